// expect: solve: Langevin methods have no error estimate, their steps are of constant size: leave the controller out
// There is no other method to take.
#include <eddy/eddy.hpp>

struct Pendulum {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto force(auto, const auto& x, const auto&) const { return -1. * eddy::sin(x); }
    constexpr auto friction(const auto& p) const { return p[0]; }
    constexpr auto temperature(const auto& p) const { return p[1]; }
};
#ifdef EDDY_BAD
using Controller = eddy::PIDController;
#else
using Controller = eddy::ConstantController;
#endif

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Pendulum{}, eddy::ALIGN{}, y0, p, {.t1 = 1, .dt0 = 0.1}, Controller{})
        .y()(0, 0);
}
