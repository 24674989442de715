// expect: solve: this method takes no noise; stochastic equations are for EulerMaruyama
// Rosenbrock methods and Taylor series are for vector fields.
#include <eddy/eddy.hpp>

struct Growth {
    static constexpr int state_size = 1, parameter_size = 2;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0]);
    }
    constexpr auto diffusion(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[1] * y[0]);
    }
};
#ifdef EDDY_BAD
using Method = eddy::Rodas5P;
#else
using Method = eddy::SRIW1;
#endif

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Growth{}, Method{}, y0, p, {.t1 = 1, .dt0 = 0.1}).y()(0, 0);
}
