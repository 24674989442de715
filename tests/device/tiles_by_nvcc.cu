// expect: eddy::Tiles: nvcc compiles no vector types; call it from a source that the
// The backend for wide equations in a source that nvcc compiles: gradients too.
#include <eddy/eddy.hpp>

struct Squares {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return eddy::dot(y, y); }
};
constexpr auto network = eddy::nn::mlp<2, 16, 2>(eddy::nn::tanh);

#ifdef EDDY_BAD
using Backend = eddy::Tiles;
#else
using Backend = eddy::Serial;
#endif

double loss_of(const eddy::EnsembleArray<double>& y0, const std::vector<double>& p) {
    return eddy::value_and_gradient(network, eddy::Tsit5{}, Squares{}, y0, eddy::shared(p),
                                    {.t1 = 1}, Backend{})
        .loss.total;
}
