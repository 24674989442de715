// expect: stochastic equation: this method has no error estimate
// What a method of order above 2 estimates is the error along a chord of the path.
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <eddy/solvers/heun.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>

struct Noisy {
    static constexpr int state_size = 2, parameter_size = 0;
    static constexpr auto calculus = eddy::stratonovich;
    constexpr auto drift(auto, const auto& y, const auto&) const { return -y; }
    constexpr auto diffusion(auto, const auto& y, const auto&) const { return eddy::vec(y[0], 1.); }
};

#ifdef EDDY_BAD
const eddy::Bosh3 method;
#else
const eddy::Heun method;
#endif
const eddy::EnsembleArray<double> start(1, 2, 1), p(1, 0);
const auto solution = eddy::solve(Noisy{}, method, start, p, {.t1 = 1, .dt0 = 0.5},
                                  eddy::pi_controller(), eddy::Serial{});
