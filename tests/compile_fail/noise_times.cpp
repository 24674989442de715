// expect: stochastic equation: a Brownian path has no derivative with respect to time
// A path has no derivative with respect to time.
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/euler_maruyama.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>

struct Noisy {
    static constexpr int state_size = 2, parameter_size = 0;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto&) const { return -y; }
    constexpr auto diffusion(auto, const auto& y, const auto&) const { return eddy::vec(y[0], 1.); }
};

struct Loss {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::dot(y, y); }
};
#ifdef EDDY_BAD
const auto& extra = eddy::differentiate_times;
#else
const eddy::ConstantController extra;
#endif
const eddy::EnsembleArray<double> start(1, 2, 1), p(1, 0);
const auto gradient = eddy::value_and_gradient(Noisy{}, eddy::EulerMaruyama{}, Loss{}, start, p,
                                               {.t1 = 1, .dt0 = 0.5}, extra, eddy::Serial{});
