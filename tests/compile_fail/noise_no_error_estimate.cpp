// expect: stochastic equation: this method has no error estimate
// A controller wants a method with an error estimate.
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/euler_maruyama.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>

struct Noisy {
    static constexpr int state_size = 2, parameter_size = 0;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto&) const { return -y; }
    constexpr auto diffusion(auto, const auto& y, const auto&) const { return eddy::vec(y[0], 1.); }
};

#ifdef EDDY_BAD
const auto controller = eddy::pi_controller();
#else
const eddy::ConstantController controller;
#endif
const eddy::EnsembleArray<double> start(1, 2, 1), p(1, 0);
const auto solution = eddy::solve(Noisy{}, eddy::EulerMaruyama{}, start, p, {.t1 = 1, .dt0 = 0.5},
                                  controller, eddy::Serial{});
