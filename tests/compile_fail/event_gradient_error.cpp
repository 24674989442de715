// expect: events: the error of a gradient through them is not estimated: leave estimate_gradient_error out
// Its estimate reads the errors of steps, not those of when they end.
#include <eddy/eddy.hpp>

struct Drop {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], 0 * y[0] - p[0]);
    }
#ifdef EDDY_BAD
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0]; }
#endif
};
struct Height {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0]; }
};

double slope_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::value_and_gradient(Drop{}, eddy::Tsit5{}, Height{}, y0, p, {.t1 = 1, .rtol = 1e-8},
                                    eddy::estimate_gradient_error)
        .gradient.p(0, 0);
}
