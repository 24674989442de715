// expect: vector field: the field must be an empty functor or a captureless lambda; pass values as parameters
// A program is a type: what the field holds at run time would not be part of it.
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/euler.hpp>

const eddy::EnsembleArray<double> start(1, 1, 1), p(1, 1, 1);

auto solve_decay([[maybe_unused]] double rate) {
#ifdef EDDY_BAD
    const auto decay = [rate](auto, const auto& y, const auto&) { return -rate * y; };
#else
    const auto decay =
        eddy::field<1, 1>([](auto, const auto& y, const auto& q) { return -q[0] * y; });
#endif
    return eddy::solve(decay, eddy::Euler{}, start, p, {.t1 = 1, .dt0 = 0.5}, eddy::Serial{});
}
