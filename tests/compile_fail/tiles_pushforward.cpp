// expect: Tiles: this backend computes no pushforward and no hessian_vector_product; leave Tiles{} out
// Tiles compute no tangents.
#include <eddy/backends/tiles.hpp>
#include <eddy/eddy.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};
#ifdef EDDY_BAD
using Backend = eddy::Tiles;
#else
using Backend = eddy::Cpu;
#endif

double slope_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::pushforward(Decay{}, eddy::Euler{}, y0, p, y0, p, {.t1 = 1, .dt0 = 0.1}, Backend{})
        .tangent()(0, 0);
}
