// expect: AutoSwitch: the first method must be an explicit tableau of three stages or more with an error estimate and the second one for stiff equations
// The second method takes what the first finds stiff.
#include <eddy/eddy.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};
#ifdef EDDY_BAD
using Method = eddy::AutoSwitch<eddy::Heun, eddy::Rosenbrock23>;
#else
using Method = eddy::AutoSwitch<eddy::Bosh3, eddy::Rosenbrock23>;
#endif

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Decay{}, Method{}, y0, p, {.t1 = 1}, eddy::Serial{}).y()(0, 0);
}
