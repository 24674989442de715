// expect: stochastic equation: this method is for additive noise
// A method for additive noise does not take one that reads y.
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/sra1.hpp>
#include <eddy/steppers/stochastic/stochastic_rk.hpp>

struct Noisy {
    static constexpr int state_size = 2, parameter_size = 0;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto&) const { return -y; }
    constexpr auto diffusion(auto, const auto& y, const auto&) const {
#ifdef EDDY_BAD
        return eddy::vec(y[0], 1.);
#else
        static_cast<void>(y);
        return eddy::vec(2., 1.);
#endif
    }
};

const eddy::EnsembleArray<double> start(1, 2, 1), p(1, 0);
const auto solution =
    eddy::solve(Noisy{}, eddy::SRA1{}, start, p, {.t1 = 1, .dt0 = 0.5}, eddy::Serial{});
