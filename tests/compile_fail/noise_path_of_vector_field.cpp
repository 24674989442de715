// expect: brownian_path: the field must be a stochastic one
// A vector field has no path.
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/sampled_path.hpp>
#include <eddy/solvers/euler_maruyama.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>

struct Noisy {
    static constexpr int state_size = 2, parameter_size = 0;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto&) const { return -y; }
    constexpr auto diffusion(auto, const auto& y, const auto&) const { return eddy::vec(y[0], 1.); }
};

struct Decay {
    static constexpr int state_size = 1, parameter_size = 0;
    constexpr auto operator()(auto, const auto& y, const auto&) const { return -y; }
};
#ifdef EDDY_BAD
using Field = Decay;
#else
using Field = Noisy;
#endif
const eddy::SolveOptions options{.t1 = 1, .dt0 = 0.5};
auto path() { return eddy::brownian_path(Field{}, options, 0); }
