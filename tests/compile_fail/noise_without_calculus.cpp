// expect: stochastic field: a member `static constexpr auto calculus = eddy::ito`
#include <eddy/eddy.hpp>

struct Growth {
    static constexpr int state_size = 1, parameter_size = 2;
#ifndef EDDY_BAD
    static constexpr auto calculus = eddy::ito;
#endif
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0]);
    }
    constexpr auto diffusion(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[1] * y[0]);
    }
};

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    const eddy::SolveOptions options{.t1 = 1, .dt0 = 0.1};
    return eddy::solve(Growth{}, eddy::EulerMaruyama{}, y0, p, options, eddy::Serial{}).y()(0, 0);
}
