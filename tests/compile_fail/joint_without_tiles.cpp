// expect: JointController is for the backends Tiles and Rows
// One step size for all lanes, by a backend whose lanes step alone.
#include <eddy/backends/tiles.hpp>
#include <eddy/eddy.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};
#ifdef EDDY_BAD
using Backend = eddy::Cpu;
#else
using Backend = eddy::Tiles;
#endif

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Decay{}, eddy::Bosh3{}, y0, p, {.t1 = 1}, eddy::JointController{}, Backend{})
        .y()(0, 0);
}
