// The engine with fused multiply-add.

#define v0 v0_fused
#include "walk.hpp"

namespace eddy::inline v0::detail {

extern "C" const void* eddy_row_engine_fused([[maybe_unused]] int width,
                                             [[maybe_unused]] bool is_single) {
    if constexpr (row_level == RowLevel::plain)
        return nullptr;
    else
        return row_engine_of(width, is_single);
}

}  // namespace eddy::inline v0::detail
