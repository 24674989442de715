// What vectors of 32 bytes bring to the engine without fused multiply-add, for programs that are compiled for any x86-64.

#define v0 v0_plain_wide
#include "walk.hpp"

namespace eddy::inline v0::detail {

extern "C" const void* eddy_row_engine_plain_wide([[maybe_unused]] int width,
                                                  [[maybe_unused]] bool is_single) {
#ifdef __AVX2__
    if constexpr (row_level == RowLevel::plain) return wider_functions_of<16, 1>(width, is_single);
#endif
    return nullptr;
}

}  // namespace eddy::inline v0::detail
