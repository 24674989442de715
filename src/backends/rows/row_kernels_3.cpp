// The kernels over rows for level 3 of x86-64.
#define EDDY_ROW_LEVEL 3
#include "row_kernels_text.hpp"
#include "row_levels.hpp"

namespace eddy::inline v0::row_kernels {

const Kernels& of_level_3() { return v0_rows_3::detail::kernels; }

}  // namespace eddy::inline v0::row_kernels
