// The kernels over rows for level 4 of x86-64.
#define EDDY_ROW_LEVEL 4
#include "row_kernels_text.hpp"
#include "row_levels.hpp"

namespace eddy::inline v0::row_kernels {

const Kernels& of_level_4() { return v0_rows_4::detail::kernels; }

}  // namespace eddy::inline v0::row_kernels
