// expect: AutoSwitch: stiffness is detected from adaptive step sizes; give a controller that adapts them, or none
#include <eddy/eddy.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};
#ifdef EDDY_BAD
using Controller = eddy::ConstantController;
#else
using Controller = eddy::PIDController;
#endif

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    const eddy::AutoSwitch method{eddy::Bosh3{}, eddy::Rosenbrock23{}};
    const eddy::SolveOptions options{.t1 = 1, .dt0 = 0.1};
    return eddy::solve(Decay{}, method, y0, p, options, Controller{}, eddy::Serial{}).y()(0, 0);
}
