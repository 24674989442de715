// expect: Rows: an equation over rows has no estimate_gradient_error
// Equations over rows have no estimates of the errors of gradients.
#include <eddy/runtime.hpp>

struct Square {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] * y[0]; }
};
#ifdef EDDY_BAD
const auto& extra = eddy::estimate_gradient_error;
#else
const auto& extra = eddy::differentiate_times;
#endif

double slope_of(const eddy::RuntimeField& field, const eddy::EnsembleArray<double>& y0) {
    return eddy::value_and_gradient(field, eddy::Tsit5{}, Square{}, y0, y0, {.t1 = 1}, extra)
        .gradient.p(0, 0);
}
