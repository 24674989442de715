// The kernels over rows for every processor of the machine's kind.
#define EDDY_ROW_LEVEL 0
#include "row_kernels_text.hpp"
#include "row_levels.hpp"

namespace eddy::inline v0::row_kernels {

const Kernels& of_level_0() { return v0_rows_0::detail::kernels; }

}  // namespace eddy::inline v0::row_kernels
