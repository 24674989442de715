// expect: Tiles: this backend computes no derivatives with respect to times; leave Tiles{} out
// Tiles compute no derivatives with respect to times.
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
const auto& extra = eddy::differentiate_times;
#else
const eddy::ConstantController extra;
#endif

double slope_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::value_and_gradient(Decay{}, eddy::Euler{}, Square{}, y0, p, {.t1 = 1, .dt0 = 0.1},
                                    extra, eddy::Tiles{})
        .gradient.p(0, 0);
}
