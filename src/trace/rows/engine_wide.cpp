// What vectors of 64 bytes bring to the engine with fused multiply-add: functions, products and sums over lanes. All
// else would take as long as these save to compile. Numbers have the bits of that engine: a product sums over its
// columns in order, a sum over lanes in packs that are as long in both.

#define v0 v0_wide
#include "walk.hpp"

namespace eddy::inline v0::detail {

#ifdef __AVX512F__
template <class Real>
const RowEngine<Real>* wide_engine_in(int width) {
    constexpr int of_vector = 32 / sizeof(Real);  // as they travel from handler to handler
    const auto with = [&]<int vectors>() {
        return RowWalk<RowVector<Real, of_vector>, std::make_integer_sequence<int, vectors>>::
            functions(row_block_kernels<Real>());
    };
    const int vectors = width / of_vector;
    if (vectors < 2) return nullptr;
    if (vectors == 2) return with.template operator()<2>();
    if (vectors == 4 || of_vector == 8) return with.template operator()<4>();
    return with.template operator()<8>();
}

extern "C" const void* eddy_row_engine_wide(int width, bool is_single) {
    return is_single ? static_cast<const void*>(wide_engine_in<float>(width))
                     : wide_engine_in<double>(width);
}
#else
extern "C" const void* eddy_row_engine_wide(int, bool) { return nullptr; }
#endif

}  // namespace eddy::inline v0::detail
