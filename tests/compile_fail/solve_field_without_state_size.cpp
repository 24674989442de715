// expect: vector field: a member `?static constexpr int state_size`? is missing; a lambda gets one by eddy::field
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/euler.hpp>

constexpr auto decay = [](auto, const auto& y, const auto& p) { return -p[0] * y; };
#ifdef EDDY_BAD
constexpr auto field = decay;
#else
constexpr auto field = eddy::field<1, 1>(decay);
#endif

const eddy::EnsembleArray<double> start(1, 1, 1), p(1, 1, 1);
const auto solution =
    eddy::solve(field, eddy::Euler{}, start, p, {.t1 = 1, .dt0 = 0.5}, eddy::Serial{});
