// expect: Rows: an equation over rows reads no inputs; leave Rows
// Kernels over rows know (t, y, p).
#include <eddy/eddy.hpp>
#include <eddy/runtime.hpp>

struct Driven {
    static constexpr int state_size = 1, parameter_size = 1, input_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& u) const {
        return eddy::vec(u[0] - p[0] * y[0]);
    }
};
#ifdef EDDY_BAD
using Backend = eddy::Rows;
#else
using Backend = eddy::Cpu;
#endif

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    const eddy::Inputs inputs = eddy::piecewise_linear({0, 1}, {1, 2});
    return eddy::solve(Driven{}, eddy::Tsit5{}, y0, p, {.t1 = 1, .inputs = inputs}, Backend{})
        .y()(0, 0);
}
