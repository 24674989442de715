// What vectors of 64 bytes bring to the engine with fused multiply-add.

#define v0 v0_wide
#include "walk.hpp"

namespace eddy::inline v0::detail {

extern "C" const void* eddy_row_engine_wide([[maybe_unused]] int width,
                                            [[maybe_unused]] bool is_single) {
#ifdef __AVX512F__
    return wider_functions_of<32, 2>(width, is_single);
#else
    return nullptr;
#endif
}

}  // namespace eddy::inline v0::detail
