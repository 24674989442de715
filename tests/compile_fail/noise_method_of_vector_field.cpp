// expect: solve: this method is for stochastic equations: give the field drift, diffusion and calculus
#include <eddy/eddy.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};
#ifdef EDDY_BAD
using Method = eddy::EulerMaruyama;
#else
using Method = eddy::Euler;
#endif

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    const eddy::SolveOptions options{.t1 = 1, .dt0 = 0.1};
    return eddy::solve(Decay{}, Method{}, y0, p, options, eddy::Serial{}).y()(0, 0);
}
