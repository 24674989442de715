// expect: solve: this method has no error estimate, its steps are of constant size: leave the controller out
// Steps would grow as if each had no error at all.
#include <eddy/eddy.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};
#ifdef EDDY_BAD
using Method = eddy::RK4;
#else
using Method = eddy::Bosh3;
#endif

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Decay{}, Method{}, y0, p, {.t1 = 1}, eddy::PIDController{}, eddy::Serial{})
        .y()(0, 0);
}
