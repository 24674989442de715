// The kernels over rows with fused multiply-add by vectors of 64 bytes, for doubles: eight floats fill no more than 32. Numbers have
// the bits of the second level, for no sum goes across a vector.

#include <eddy/backends/rows/row_kernels.hpp>

#define v0 v0_rows_wide
#include "row_kernels_text.hpp"

namespace eddy::inline v0::detail {

extern "C" const void* eddy_row_kernels_wide() {
#ifdef __AVX512F__
    return &kernels<double>;
#else
    return nullptr;
#endif
}

}  // namespace eddy::inline v0::detail
