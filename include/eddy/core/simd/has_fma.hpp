#pragma once
// Is a fused multiply-add one instruction of this host? Scalars and packs go by the same answer, so
// that both round alike.
// Test: tests/core/fma_flags.cpp

namespace eddy::inline v0::simd {

#if defined(__FMA__) || defined(__AVX512F__) || defined(__FP_FAST_FMA) || defined(__ARM_FEATURE_FMA)
inline constexpr bool has_fma = true;
#else
inline constexpr bool has_fma = false;
#endif

}  // namespace eddy::inline v0::simd
