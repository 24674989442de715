// The kernels over rows without fused multiply-add, by vectors of 32 bytes: for programs that are compiled for any x86-64. Numbers have the bits of
// the first level, for no sum goes across a vector.

#include <eddy/backends/rows/row_kernels.hpp>

#define v0 v0_rows_plain_wide
#include "row_kernels_text.hpp"

namespace eddy::inline v0::detail {

extern "C" const void* eddy_row_kernels_plain_wide([[maybe_unused]] bool is_single) {
#ifdef __AVX2__
    if (!simd::has_fma)
        return is_single ? static_cast<const void*>(&kernels<float>) : &kernels<double>;
#endif
    return nullptr;
}

}  // namespace eddy::inline v0::detail
