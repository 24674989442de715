// expect: must be \(trajectory, component\) arrays, all of float or all of double
// Equations over rows are computed in one kind of number.
#include <eddy/runtime.hpp>

struct Square {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        return (y[0] - data[0]) * (y[0] - data[0]);
    }
};
#ifdef EDDY_BAD
using Real = double;
#else
using Real = float;
#endif

float slope_of(const eddy::RuntimeField& field, const eddy::EnsembleArray<float>& y0,
               const eddy::EnsembleArray<Real>& data) {
    return eddy::value_and_gradient(field, eddy::Tsit5{}, Square{}, data, y0, y0, {.t1 = 1})
        .gradient.p(0, 0);
}
