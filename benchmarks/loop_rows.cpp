// What scripts/compile-loops compiles, one ROW at a time.

#include <eddy/solvers/rodas5p.hpp>

#include "loop_programs.hpp"

using Lanes = eddy::Pack<double, 8>;
using eddy::Vec;

#if ROW == 1
Vec<Lanes, 1000> value(const Vec<Lanes, 1000>& y, const Vec<double, 2>& p) {
    return programs::chain<1000>(y, p);
}
#elif ROW == 2
auto pullback(const Vec<Lanes, 1000>& y, const Vec<double, 2>& p, const Vec<Lanes, 1000>& c) {
    return eddy::vjp(programs::chain<1000>)(y, p, c);
}
#elif ROW == 3 || ROW == 4
using Array = eddy::EnsembleArray<double>;
constexpr int cells = ROW == 3 ? 300 : 100;
struct Square {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r);
    }
};
double solve(const Array& y0, const Array& p) {
    return eddy::solve(programs::ChainField<cells>{}, eddy::Rodas5P{}, y0, p, {.t1 = 1}).y()(0, 0);
}
double gradient(const Array& data, const Array& y0, const Array& p) {
    return eddy::value_and_gradient(programs::ChainField<cells>{}, eddy::Rodas5P{}, Square{}, data,
                                    y0, p, {.t1 = 1})
        .loss(0);
}
#elif ROW >= 5
using Network =
    std::tuple_element_t<ROW - 5, std::tuple<programs::Layers<64>, programs::Layers<64, 8, 8>,
                                             programs::LayersWrittenOut<64>>>;
auto layers(const Vec<Lanes, 8>& x, const Vec<double, 72>& w, const Vec<Lanes, 8>& c) {
    return eddy::vjp(programs::traced<Network>)(x, w, c);
}
#endif
