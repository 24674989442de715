// expect: differentiable_solve: its value is the state at t1 and its inputs are y0 and p; observe\(function\), differentiate_times and estimate_gradient_error have no place here
// Its pullback has two cotangents.
#include <eddy/eddy.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};
#ifdef EDDY_BAD
const auto& extra = eddy::differentiate_times;
#else
const eddy::Serial extra;
#endif

auto nested() { return eddy::differentiable_solve(Decay{}, eddy::Euler{}, {.t1 = 1}, extra); }
