// The kernels over rows without fused multiply-add.

#include "row_sums.hpp"

#define v0 v0_rows_plain
#include "row_kernels_text.hpp"

namespace eddy::inline v0::detail {

extern "C" const void* eddy_row_kernels_plain() { return simd::has_fma ? nullptr : &kernels; }
extern "C" const void* eddy_row_sums_plain() { return simd::has_fma ? nullptr : &sum_kernels; }

}  // namespace eddy::inline v0::detail
