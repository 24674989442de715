// expect: solve: y0 must be a \(trajectory, component\) array
// What is no array of numbers is no initial state.
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/euler.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-(p[0] * y[0]));
    }
};

const eddy::EnsembleArray<double> p(1, 1, 1);
#ifdef EDDY_BAD
const double start = 1;
#else
const eddy::EnsembleArray<double> start(1, 1, 1);
#endif

const auto solution =
    eddy::solve(Decay{}, eddy::Euler{}, start, p, {.t1 = 1, .dt0 = 0.5}, eddy::Serial{});
