// expect: solve: the arguments after the options can be a controller, a backend
// What stands after the options is known, or refused.
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/euler.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-(p[0] * y[0]));
    }
};

struct Verbose {};
#ifdef EDDY_BAD
const Verbose extra;
#else
const eddy::ConstantController extra;
#endif

const eddy::EnsembleArray<double> start(1, 1, 1), p(1, 1, 1);
const auto solution =
    eddy::solve(Decay{}, eddy::Euler{}, start, p, {.t1 = 1, .dt0 = 0.5}, eddy::Serial{}, extra);
