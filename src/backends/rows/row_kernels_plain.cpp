// The kernels over rows without fused multiply-add.

#include <eddy/backends/rows/row_kernels.hpp>

#define v0 v0_rows_plain
#include "row_kernels_text.hpp"

namespace eddy::inline v0::detail {

extern "C" const void* eddy_row_kernels_plain(bool is_single) {
    if (simd::has_fma) return nullptr;
    return is_single ? static_cast<const void*>(&kernels<float>) : &kernels<double>;
}

}  // namespace eddy::inline v0::detail
