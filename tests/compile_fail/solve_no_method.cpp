// expect: solve: the method must be a struct with an order and a tableau, such as Tsit5
// A method is a table of coefficients.
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/euler.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-(p[0] * y[0]));
    }
};

struct Adams {
    static constexpr int order = 4;
};
#ifdef EDDY_BAD
using Method = Adams;
#else
using Method = eddy::Euler;
#endif

const eddy::EnsembleArray<double> start(1, 1, 1), p(1, 1, 1);
const auto solution =
    eddy::solve(Decay{}, Method{}, start, p, {.t1 = 1, .dt0 = 0.5}, eddy::Serial{});
