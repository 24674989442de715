// Quantities accumulated along a flow, against Jacobians by central differences.

#include <cmath>
#include <eddy/ad/nn/accumulate.hpp>
#include <eddy/core/lanes.hpp>
#include <eddy/trace/evaluate.hpp>
#include <eddy/trace/nn/initial_weights.hpp>
#include <vector>

#include "support/catch.hpp"

namespace {

namespace nn = eddy::nn;
constexpr auto network = nn::mlp<3, 6, 2>(nn::silu);  // of y and t
using Network = std::remove_const_t<decltype(network)>;
using All = nn::Accumulated<Network, nn::Divergence, nn::EstimatedDivergence, nn::KineticEnergy,
                            nn::JacobianNorm>;

struct Evaluation {
    std::vector<double> p = nn::glorot_uniform<double>(network, 4);

    [[nodiscard]] auto all(double probe0, double probe1) const {
        eddy::Vec<double, All::state_size> y{};
        y[0] = 0.3;
        y[1] = -0.2;
        y[All::first_probe] = probe0;
        y[All::first_probe + 1] = probe1;
        return eddy::trace_field(All{})(0.5, y, p.data());
    }
    /// ∂f_i/∂y_j, off by h² times a third derivative.
    [[nodiscard]] double jacobian(int i, int j) const {
        const double h = 1e-5;
        eddy::Vec<double, 2> above{{0.3, -0.2}}, below = above;
        above[j] += h;
        below[j] -= h;
        const auto f = [&](const auto& y) {
            return eddy::trace_field(network)(0.5, y, p.data())[i];
        };
        return (f(above) - f(below)) / (2 * h);
    }
};

/// (lane, component), for draw_probes.
struct Table {
    std::vector<double> numbers = std::vector<double>(1000 * All::state_size, 0.);
    [[nodiscard]] static std::ptrdiff_t rows() { return 1000; }
    double& operator()(std::ptrdiff_t lane, int component) {
        return numbers[static_cast<std::size_t>(lane * All::state_size + component)];
    }
};

}  // namespace

TEST_CASE("accumulate: divergence, energy and norm are those of the field's Jacobian") {
    const Evaluation at;
    const double j00 = at.jacobian(0, 0), j01 = at.jacobian(0, 1), j10 = at.jacobian(1, 0),
                 j11 = at.jacobian(1, 1);

    const auto found = at.all(1, -1);

    const auto own =
        eddy::trace_field(network)(0.5, eddy::Vec<double, 2>{{0.3, -0.2}}, at.p.data());
    CHECK(found[0] == own[0]);
    CHECK(found[1] == own[1]);
    CHECK(std::abs(found[2] - (j00 + j11)) < 1e-9);
    CHECK(std::abs(found[3] - (j00 - j01 - j10 + j11)) < 1e-9);
    CHECK(std::abs(found[4] - (own[0] * own[0] + own[1] * own[1])) < 1e-15);
    CHECK(std::abs(found[5] - (std::pow(j00 - j01, 2) + std::pow(j10 - j11, 2))) < 1e-9);
    CHECK(found[All::first_probe] == 0);
    CHECK(found[All::first_probe + 1] == 0);
}

TEST_CASE("accumulate: the means over all probes are the divergence and Frobenius' norm") {
    const Evaluation at;
    double divergence = 0, square = 0, norm = 0;
    for (const double a : {-1., 1.}) {
        for (const double b : {-1., 1.}) {
            divergence += at.all(a, b)[3] / 4;
            square += at.all(a, b)[5] / 4;
        }
    }
    for (const int i : {0, 1})
        for (const int j : {0, 1}) norm += std::pow(at.jacobian(i, j), 2);

    CHECK(std::abs(divergence - at.all(1, 1)[2]) < 1e-15);
    CHECK(std::abs(square - norm) < 1e-9);
}

TEST_CASE("accumulate: probes are ±1, without bias, and a function of their seed") {
    Table table, again, other;
    All::draw_probes(table, 1);
    All::draw_probes(again, 1);
    All::draw_probes(other, 2);
    double sum = 0, product = 0;
    for (std::ptrdiff_t lane = 0; lane < 1000; ++lane) {
        const double a = table(lane, All::first_probe), b = table(lane, All::first_probe + 1);
        CHECK((a * a == 1 && b * b == 1 && table(lane, 0) == 0));
        sum += a + b;
        product += a * b;
    }

    // Four standard deviations of 2,000 and of 1,000 signs.
    CHECK(std::abs(sum) < 180);
    CHECK(std::abs(product) < 127);
    CHECK(table.numbers == again.numbers);
    CHECK(table.numbers != other.numbers);
}
