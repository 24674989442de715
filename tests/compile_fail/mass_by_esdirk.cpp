// expect: solve: this method takes no mass matrix; fields with a member `mass` are for Rosenbrock methods, such as Rodas5P
// Methods whose first stage is explicit want dy/dt itself there.
#include <eddy/eddy.hpp>

struct Equilibrium {
    static constexpr int state_size = 2, parameter_size = 1;
    static constexpr double mass[2][2] = {{1, 0}, {0, 0}};
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-y[1], y[1] - p[0] * y[0]);
    }
};
#ifdef EDDY_BAD
using Method = eddy::Kvaerno3;
#else
using Method = eddy::ROS34PW2;
#endif

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Equilibrium{}, Method{}, y0, p, {.t1 = 1}).y()(0, 0);
}
