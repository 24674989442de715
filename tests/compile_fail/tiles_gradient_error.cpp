// expect: Tiles: this backend computes no estimate_gradient_error; leave Tiles\{\} out
// The estimate is a tangent.
#include <eddy/backends/tiles.hpp>
#include <eddy/eddy.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};
struct Square {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] * y[0]; }
};
#ifdef EDDY_BAD
using Backend = eddy::Tiles;
#else
using Backend = eddy::Cpu;
#endif

double slope_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::value_and_gradient(Decay{}, eddy::Bosh3{}, Square{}, y0, p, {.t1 = 1},
                                    eddy::estimate_gradient_error, Backend{})
        .gradient.p(0, 0);
}
