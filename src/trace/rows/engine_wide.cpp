// What vectors of 64 bytes bring to the engine with fused multiply-add: functions, products and sums of outer products. All
// else would take as long as these save to compile. Numbers have the bits of that engine: a product sums over its
// columns in order, a sum of outer products over lanes; sums in which a vector's elements are added stay with it.

#define v0 v0_wide
#include "walk.hpp"

namespace eddy::inline v0::detail {

#ifdef __AVX512F__
template <class Real>
const RowBlockKernels<Real>& fused_blocks() {
    return *static_cast<const RowEngine<Real>*>(
                eddy_row_engine_fused(64, std::is_same_v<Real, float>))
                ->blocks;
}
template <class Real>
void add_wide_outer(Real* sum, int rows, int columns, const Real* u, const Real* v, int width,
                    const int* lanes, int count, Real* room) {
    const bool is_thin = is_outer_thin(rows) || is_outer_thin(columns);
    const auto add = is_thin ? fused_blocks<Real>().add_outer : add_outer_rows<Real>;
    add(sum, rows, columns, u, v, width, lanes, count, room);
}
template <class Real>
const RowEngine<Real>* wide_engine_in(int width) {
    static const RowBlockKernels<Real> blocks{multiply_rows<Real>, add_wide_outer<Real>,
                                              fused_blocks<Real>().add_lanes};
    constexpr int of_vector = 32 / sizeof(Real);  // as they travel from handler to handler
    const auto with = [&]<int vectors>() {
        return RowWalk<RowVector<Real, of_vector>,
                       std::make_integer_sequence<int, vectors>>::functions(&blocks);
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
