// expect: Rows: events are found by explicit Runge-Kutta methods, in solves and gradients; for tangents and other methods give a compile-time functor without Rows\{\}
// Tangents over rows do not go through events.
#include <eddy/runtime.hpp>

struct Drop {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], 0 * y[0] - p[0]);
    }
#ifdef EDDY_BAD
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0]; }
#endif
};

double slope_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::pushforward(Drop{}, eddy::Tsit5{}, y0, p, y0, p, {.t1 = 1}, eddy::Rows{})
        .tangent()(0, 0);
}
