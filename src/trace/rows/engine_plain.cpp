// The engine for the instructions that the library is compiled for.

#define v0 v0_plain
#include "walk.hpp"

namespace eddy::inline v0::detail {

extern "C" const void* eddy_row_engine_plain(int width, bool is_single) {
    return row_engine_of(width, is_single);
}

}  // namespace eddy::inline v0::detail
