// expect: events: stochastic equations have none
// A path is asked at the ends of steps that depend on nothing else.
#include <eddy/eddy.hpp>

struct Growth {
    static constexpr int state_size = 1, parameter_size = 1;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const { return p[0] * y; }
    constexpr auto diffusion(auto, const auto& y, const auto&) const { return 0.1 * y; }
#ifdef EDDY_BAD
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0] - 2; }
#endif
};

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Growth{}, eddy::EulerMaruyama{}, y0, p, {.t1 = 1, .dt0 = 0.1}).y()(0, 0);
}
