// The kernels over rows with fused multiply-add.

#include "row_sums.hpp"

#define v0 v0_rows_fused
#include "row_kernels_text.hpp"

namespace eddy::inline v0::detail {

extern "C" const void* eddy_row_kernels_fused() { return simd::has_fma ? &kernels : nullptr; }
extern "C" const void* eddy_row_sums_fused() { return simd::has_fma ? &sum_kernels : nullptr; }

}  // namespace eddy::inline v0::detail
