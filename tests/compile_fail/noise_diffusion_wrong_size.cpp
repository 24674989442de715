// expect: stochastic field: diffusion\(t, y, p\) must return state_size components
// A diffusion has as many components as the state.
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/euler_maruyama.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>

struct Noisy {
    static constexpr int state_size = 2, parameter_size = 0;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto&) const { return -y; }
    constexpr auto diffusion(auto, const auto& y, const auto&) const {
#ifdef EDDY_BAD
        return eddy::vec(y[0]);
#else
        return eddy::vec(y[0], 1.);
#endif
    }
};

const eddy::EnsembleArray<double> start(1, 2, 1), p(1, 0);
const auto solution =
    eddy::solve(Noisy{}, eddy::EulerMaruyama{}, start, p, {.t1 = 1, .dt0 = 0.5}, eddy::Serial{});
