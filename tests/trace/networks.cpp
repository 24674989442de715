// Networks as functions of one parameter vector: where the weights are, what a network computes with
// them, and what they are at first.

#include <cmath>
#include <eddy/trace/evaluate.hpp>
#include <eddy/trace/field.hpp>
#include <eddy/trace/nn/initial_weights.hpp>
#include <vector>

#include "support/catch.hpp"

namespace {

namespace nn = eddy::nn;
constexpr auto small = nn::mlp<2, 3, 1>(nn::softplus);

/// The network written out.
double by_hand(double x0, double x1, const std::vector<double>& p) {
    double sum = p[12];
    for (std::size_t i = 0; i < 3; ++i) {
        const double hidden = p[2 * i] * x0 + p[2 * i + 1] * x1 + p[6 + i];
        sum += p[9 + i] * std::log1p(std::exp(hidden));
    }
    return sum;
}

double mean_square(const std::vector<double>& p, int first, int count) {
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        const double w = p[static_cast<std::size_t>(first + i)];
        sum += w * w;
    }
    return sum / count;
}

}  // namespace

TEST_CASE(
    "networks: the weights of all layers are one vector, row-major, each bias after its matrix") {
    constexpr auto network = nn::mlp<2, 64, 64, 2>(nn::tanh);
    STATIC_REQUIRE(network.parameter_size == 2 * 64 + 64 + 64 * 64 + 64 + 64 * 2 + 2);
    STATIC_REQUIRE(network.state_size == 2);
    std::vector<double> p(network.parameter_size);
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = static_cast<double>(i);

    const auto layers = network.layers(std::span(p));

    CHECK(layers[1].name == "layers.1");
    CHECK(layers[1](0, 0) == 192);
    CHECK(layers[1](3, 5) == 192 + 3 * 64 + 5);
    CHECK(layers[1].bias.front() == 192 + 64 * 64);
    CHECK(layers[2].bias.back() == network.parameter_size - 1);
}

TEST_CASE("networks: a network is what its layers say, as a function and as a field") {
    const std::vector<double> p = nn::glorot_normal<double>(small, 11);

    const auto program = eddy::trace<eddy::Vector<2>, eddy::Vector<small.parameter_size>>(small);

    const std::vector<double> x{0.7, -1.2};
    CHECK(std::abs(program(x.data(), p.data())[0] - by_hand(0.7, -1.2, p)) < 1e-15);
    // One input more than outputs: the field reads t last.
    const double y[]{0.7};
    CHECK(std::abs(eddy::trace_field(small)(-1.2, y, p.data())[0] - by_hand(0.7, -1.2, p)) < 1e-15);
}

TEST_CASE("networks: Mlp<sizes...>{tanh} is the network with tanh") {
    using nn::tanh;
    constexpr auto network = nn::Mlp<2, 3, 2>{tanh};
    constexpr auto same = nn::mlp<2, 3, 2>(tanh);
    const std::vector<double> p = nn::glorot_normal<double>(network, 5), x{0.3, -0.4};

    STATIC_REQUIRE(std::is_empty_v<nn::Mlp<2, 3, 2>>);
    CHECK(p == nn::glorot_normal<double>(same, 5));
    CHECK(network.kind() == "mlp(tanh)");
    CHECK(eddy::trace_field(network)(0., x.data(), p.data()) ==
          eddy::trace_field(same)(0., x.data(), p.data()));
    CHECK(eddy::trace_field(nn::residual(nn::Mlp<2, 3, 2>{}))(0., x.data(), p.data())[0] ==
          0.3 + eddy::trace_field(same)(0., x.data(), p.data())[0]);
}

TEST_CASE("networks: a residual network adds its input") {
    using Network = nn::Perceptron<nn::Gelu, 2, 4, 2>;
    const std::vector<double> p = nn::kaiming_uniform<double>(Network{}, 3), x{0.3, -0.4};

    const auto plain = eddy::trace_field(Network{})(0., x.data(), p.data());
    const auto residual = eddy::trace_field(nn::Residual<Network>{})(0., x.data(), p.data());

    CHECK(residual[0] == 0.3 + plain[0]);
    CHECK(residual[1] == -0.4 + plain[1]);
}

TEST_CASE(
    "networks: first weights have the variance that their name promises, and biases are zero") {
    constexpr auto network = nn::mlp<100, 300, 50>(nn::relu);
    constexpr int count = 100 * 300;
    // The mean of `count` squares is off by about √(2 / count) of it, 0.8 %, at most.
    const auto check_variance = [&](const std::vector<double>& p, double variance) {
        CHECK(std::abs(mean_square(p, 0, count) / variance - 1) < 0.03);
        CHECK(mean_square(p, network.shapes[0].first_bias, 300) == 0);
    };

    check_variance(nn::glorot_uniform<double>(network, 1), 2. / 400);
    check_variance(nn::glorot_normal<double>(network, 1), 2. / 400);
    check_variance(nn::kaiming_uniform<double>(network, 1), 2. / 100);
    check_variance(nn::kaiming_normal<double>(network, 1), 2. / 100);
    CHECK(nn::glorot_uniform<double>(network, 1) == nn::glorot_uniform<double>(network, 1));
    CHECK(nn::glorot_uniform<double>(network, 1) != nn::glorot_uniform<double>(network, 2));
}
