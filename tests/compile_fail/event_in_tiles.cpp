// expect: Tiles: this backend finds no events; leave Tiles{} out
// The lanes of a tile step together.
#include <eddy/backends/tiles.hpp>
#include <eddy/eddy.hpp>

struct Drop {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], 0 * y[0] - p[0]);
    }
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0]; }
};
#ifdef EDDY_BAD
using Backend = eddy::Tiles;
#else
using Backend = eddy::Cpu;
#endif

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Drop{}, eddy::Tsit5{}, y0, p, {.t1 = 1}, Backend{}).y()(0, 0);
}
