// The engine with vectors of 64 bytes.

#define v0 v0_wide
#include "walk.hpp"

namespace eddy::inline v0::detail {

extern "C" const void* eddy_row_engine_wide([[maybe_unused]] int width) {
    if constexpr (row_level == RowLevel::wide)
        return row_engine_of(width);
    else
        return nullptr;
}

}  // namespace eddy::inline v0::detail
