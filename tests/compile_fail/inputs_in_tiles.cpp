// expect: Tiles: this backend reads no inputs; leave Tiles
// The pieces of inputs are those of a lane.
#include <eddy/backends/tiles.hpp>
#include <eddy/eddy.hpp>

struct Driven {
    static constexpr int state_size = 1, parameter_size = 1, input_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& u) const {
        return eddy::vec(u[0] - p[0] * y[0]);
    }
};
#ifdef EDDY_BAD
using Backend = eddy::Tiles;
#else
using Backend = eddy::Cpu;
#endif

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    const eddy::Inputs inputs = eddy::piecewise_linear({0, 1}, {1, 2});
    return eddy::solve(Driven{}, eddy::Tsit5{}, y0, p, {.t1 = 1, .inputs = inputs}, Backend{})
        .y()(0, 0);
}
