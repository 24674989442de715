#pragma once
// The levels of the processor that the kernels over rows are compiled for.

#include <eddy/backends/rows/row_kernels.hpp>

namespace eddy::inline v0::row_kernels {

const Kernels& of_level_0();
#ifdef EDDY_ROWS_HAVE_LEVELS
const Kernels& of_level_3();
const Kernels& of_level_4();
#endif

}  // namespace eddy::inline v0::row_kernels
