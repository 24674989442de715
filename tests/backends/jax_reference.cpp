// Gradients in tiles against those of JAX, with the same weights and steps: jax_reference.py has written them.

#include <cmath>
#include <eddy/ad/nn/accumulate.hpp>
#include <eddy/backends/tiles.hpp>
#include <eddy/interop/train/weights_file.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/dopri5.hpp>
#include <vector>

#include "support/catch.hpp"

namespace {

namespace nn = eddy::nn;
namespace train = eddy::train;
constexpr std::ptrdiff_t lanes = 8;
constexpr auto network = nn::mlp<2, 24, 16, 2>(nn::tanh);
constexpr auto of_flow = nn::mlp<3, 12, 2>(nn::silu);
using Flow = decltype(nn::accumulate<nn::Divergence, nn::KineticEnergy>(of_flow));

struct SquaredError {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r);
    }
};
struct NegativeLogLikelihood {
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        return 0.5 * (y[0] * y[0] + y[1] * y[1]) - y[2] + 0.1 * y[3];
    }
};

void load(const std::vector<train::Tensor<double>>& tensors) {
    train::load_tensors(EDDY_JAX_REFERENCE, tensors);
}
/// A table of the file, (lane, component), into the first components of an array.
eddy::EnsembleArray<double> load_lanes(const std::string& name, int components) {
    std::vector<double> table(2 * lanes);
    load({{name, {lanes, 2}, table}});
    eddy::EnsembleArray<double> array(lanes, components);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        for (std::ptrdiff_t i = 0; i < 2; ++i)
            array(lane, i) = table[static_cast<std::size_t>(2 * lane + i)];
    return array;
}

template <class Network>
struct Reference {
    std::string name;
    std::vector<double> p, p_gradient;
    std::vector<double> loss = std::vector<double>(1);

    Reference(const Network& of, std::string prefix)
        : name(std::move(prefix)), p(of.parameter_size), p_gradient(of.parameter_size) {
        load(train::tensors(of, p, name + "."));
        load(train::tensors(of, p_gradient, name + ".gradient."));
        load({{name + ".loss", {1}, loss}});
    }
    /// Sums are in other orders, over a few thousand terms of order one each.
    void check(const auto& result) const {
        constexpr double tolerance = 1e-10;
        double largest = 0;
        for (const double g : p_gradient) largest = std::max(largest, std::abs(g));
        REQUIRE(largest > 0.1);
        CHECK(std::abs(result.loss.total - loss[0]) < tolerance * loss[0]);
        for (std::size_t i = 0; i < p.size(); ++i)
            CHECK(std::abs(result.gradient.p(0, std::ptrdiff_t(i)) - p_gradient[i]) <
                  tolerance * largest);
        const auto y0_gradient = load_lanes(name + ".gradient.y0", 2);
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
            for (std::ptrdiff_t i = 0; i < 2; ++i)
                CHECK(std::abs(result.gradient.y0(lane, i) - y0_gradient(lane, i)) < tolerance);
    }
};

}  // namespace

TEST_CASE("jax_reference: the gradients of a neural ODE are those of JAX to 1e-10") {
    const Reference reference(network, "ode");

    const auto result =
        eddy::value_and_gradient(network, eddy::Dopri5{}, SquaredError{}, load_lanes("ode.data", 2),
                                 load_lanes("ode.y0", 2), eddy::shared(reference.p),
                                 {.t1 = 1, .dt0 = 0.05}, eddy::ConstantController{}, eddy::Tiles{});

    reference.check(result);
}

TEST_CASE("jax_reference: those of a flow with exact traces and energy are, too") {
    const Reference reference(of_flow, "flow");

    const auto result =
        eddy::value_and_gradient(Flow{}, eddy::Dopri5{}, NegativeLogLikelihood{},
                                 load_lanes("flow.y0", Flow::state_size), eddy::shared(reference.p),
                                 {.t1 = 1, .dt0 = 0.1}, eddy::ConstantController{}, eddy::Tiles{});

    reference.check(result);
}
