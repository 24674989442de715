// Densities along a flow: the accumulated divergence is the logarithm of the volume's change, in tiles and
// on plain numbers, and its gradient the limit of central differences.

#include <cmath>
#include <eddy/ad/nn/accumulate.hpp>
#include <eddy/backends/tiles.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <eddy/trace/nn/initial_weights.hpp>
#include <vector>

#include "support/catch.hpp"

namespace {

namespace nn = eddy::nn;
constexpr auto network = nn::mlp<3, 12, 2>(nn::tanh);
using Flow = nn::Accumulated<std::remove_const_t<decltype(network)>, nn::Divergence,
                             nn::EstimatedDivergence, nn::KineticEnergy>;

/// −log of a normal density at the end, and a little of the energy.
struct NegativeLogLikelihood {
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        return 0.5 * (y[0] * y[0] + y[1] * y[1]) - y[2] + 0.1 * y[3] + 0.01 * y[4];
    }
};

struct Batch {
    std::vector<double> p = nn::glorot_uniform<double>(network, 11);
    eddy::EnsembleArray<double> y0{20, Flow::state_size};

    Batch() {
        for (double& w : p) w *= 2;
        for (std::ptrdiff_t lane = 0; lane < 20; ++lane) {
            y0(lane, 0) = std::sin(double(lane));
            y0(lane, 1) = std::cos(1.7 * double(lane));
        }
        Flow::draw_probes(y0, 5);
    }
    [[nodiscard]] auto end() const {
        return eddy::solve(Flow{}, eddy::Tsit5{}, y0, eddy::shared(p),
                           {.t1 = 1, .rtol = 1e-10, .atol = 1e-12}, eddy::Tiles{});
    }
};

}  // namespace

TEST_CASE(
    "flow_quantities: the integral of the divergence is the logarithm of the volume's change") {
    Batch batch;
    const auto middle = batch.end();
    REQUIRE(middle.success());
    double at[2][2][20][2];
    const double h = 1e-5;
    for (const int j : {0, 1}) {
        for (const int side : {0, 1}) {
            Batch moved;
            for (std::ptrdiff_t lane = 0; lane < 20; ++lane)
                moved.y0(lane, j) += side == 0 ? -h : h;
            const auto end = moved.end();
            for (std::ptrdiff_t lane = 0; lane < 20; ++lane)
                for (const int i : {0, 1}) at[j][side][lane][i] = end.y()(lane, i);
        }
    }

    for (std::ptrdiff_t lane = 0; lane < 20; ++lane) {
        const auto slope = [&](int i, int j) {
            return (at[j][1][lane][i] - at[j][0][lane][i]) / (2 * h);
        };
        const double volume = slope(0, 0) * slope(1, 1) - slope(0, 1) * slope(1, 0);
        // Off by h² times third derivatives, and the tolerance over h.
        CHECK(std::abs(std::log(volume) - middle.y()(lane, 2)) < 1e-6);
        CHECK(middle.y()(lane, 5) == batch.y0(lane, 5));
    }
}

TEST_CASE(
    "flow_quantities: gradients through divergence and energy are limits of central differences") {
    Batch batch;
    const auto call = [&] {
        return eddy::value_and_gradient(Flow{}, eddy::Tsit5{}, NegativeLogLikelihood{}, batch.y0,
                                        eddy::shared(batch.p), {.t1 = 1, .dt0 = 0.125},
                                        eddy::ConstantController{}, eddy::Tiles{});
    };
    const auto exact = call();

    for (std::size_t i = 0; i < batch.p.size(); i += 13) {
        const double at = batch.p[i], h = 1e-5;
        batch.p[i] = at + h;
        const double above = call().loss.total;
        batch.p[i] = at - h;
        const double below = call().loss.total;
        batch.p[i] = at;
        CHECK(std::abs((above - below) / (2 * h) -
                       exact.gradient.p(0, static_cast<std::ptrdiff_t>(i))) < 1e-7);
    }
}
