// Weak order two for noises that do not commute, without chance: the mean over one step is a sum over all
// values that its noise takes, the exact one that of the equation's generator.

#include <cmath>
#include <eddy/ad/dual.hpp>
#include <eddy/solvers/dri1.hpp>
#include <eddy/solvers/euler_maruyama.hpp>

#include "steppers/polynomial.hpp"
#include "support/catch.hpp"
#include "support/stochastic_equations.hpp"

namespace {

using support::NoiseAlongNoise;
using support::Polynomial;
using State = eddy::Vec<double, 2>;

/// Two noises, both in both components, and all of it depends on time.
struct TwoNoises {
    static constexpr int state_size = 2, parameter_size = 0, num_noises = 2;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto t, const auto& y, const auto&) const {
        return eddy::vec(0.3 * y[0] + 0.5 * y[1] * y[1], 0.4 * t * y[0] - 0.6 * y[1]);
    }
    constexpr auto diffusion(auto t, const auto& y, const auto&) const {
        return eddy::columns(eddy::vec(0.5 * y[1] + 0.2 * t, 0.3 * y[0] * y[1]),
                             eddy::vec(0.6 * y[0] * t, 0.2 * y[0] * y[0] + 0.1));
    }
};
/// Three, of which the last is in one component alone; an entry is a literal.
struct ThreeNoises {
    static constexpr int state_size = 2, parameter_size = 0, num_noises = 3;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto&) const {
        return eddy::vec(-0.7 * y[0] * y[1], 0.2 + 0.5 * y[0]);
    }
    constexpr auto diffusion(auto, const auto& y, const auto&) const {
        return eddy::columns(eddy::vec(0.4 * y[1], 0.5 * y[0]), eddy::vec(0.3, 0.6 * y[0] * y[1]),
                             eddy::vec(0., 0.5 * y[0]));
    }
};
/// The path of a step whose normals are given.
struct GivenPath {
    double z[3], root;

    template <class Real, int noises, bool with_area>
    eddy::BrownianIncrements<Real, noises, with_area> increments() const {
        eddy::BrownianIncrements<Real, noises, with_area> result{};
        for (int k = 0; k < noises; ++k) result.w[k] = root * z[k];
        return result;
    }
    template <class Real>
    Real root_of_size() const {
        return root;
    }
};

/// Normals, one for each pair of values that W and the sign of a noise have.
constexpr int num_nodes = 6;
constexpr double nodes[num_nodes] = {-1.7, -1.1, -0.5, 0.5, 1.1, 1.7},
                 weights[num_nodes] = {1. / 12, 1. / 12, 1. / 3, 1. / 3, 1. / 12, 1. / 12};
constexpr double begin = 0.5;
const State start{{1, 0.8}};

template <class Field, class Method, class Number>
eddy::Vec<Number, 2> step(const eddy::Vec<Number, 2>& y, const double (&z)[3], double h) {
    using Stepper = eddy::StepperFor<eddy::TermOf<Field>, Method, false>;
    const eddy::StepSize<double, double> dt{h, h};
    const double* const no_parameters = nullptr;
    const GivenPath path{{z[0], z[1], z[2]}, std::sqrt(h)};
    return Stepper::step(eddy::StepInput{begin, y, no_parameters, dt, path}, eddy::NoMemory{});
}

/// Functions of the state whose means are compared.
const Polynomial y1 = Polynomial::variable(1), y2 = Polynomial::variable(2);
const Polynomial functions[] = {y1, y2, y1* y1* y1, y1* y2* y2, y1* y1* y2* y2, y2* y2* y2};
constexpr int num_functions = 6;

template <class Field, class Method>
eddy::Vec<double, num_functions> means_of_step(double h) {
    eddy::Vec<double, num_functions> sums{};
    const int others = Field::num_noises == 3 ? num_nodes : 1;
    for (int i = 0; i < num_nodes; ++i) {
        for (int j = 0; j < num_nodes; ++j) {
            for (int k = 0; k < others; ++k) {
                const double weight = weights[i] * weights[j] * (others > 1 ? weights[k] : 1);
                const State end = step<Field, Method>(start, {nodes[i], nodes[j], nodes[k]}, h);
                for (int f = 0; f < num_functions; ++f) sums[f] += weight * functions[f].at(0, end);
            }
        }
    }
    return sums;
}
/// The least slope of log2 of the distances of the means over halvings of the step, less one.
template <class Field, class Method>
double order_of() {
    const support::Generator<Field> generator;
    constexpr double largest = 1. / 128, smallest = 1. / 1024;
    const auto coarse = means_of_step<Field, Method>(largest),
               fine = means_of_step<Field, Method>(smallest);
    double order = 100;
    for (int f = 0; f < num_functions; ++f) {
        const auto distance = [&](double mean, double h) {
            return std::abs(mean - generator.mean(functions[f], begin, start, h));
        };
        const double from = distance(coarse[f], largest), to = distance(fine[f], smallest);
        UNSCOPED_INFO("function " << f << ": " << from << ", " << to);
        if (to > 1e-13) order = std::fmin(order, std::log2(from / to) / 3 - 1);
    }
    return order;
}

}  // namespace

TEST_CASE("weak order: two of DRI1, for noises that do not commute") {
    CHECK(eddy::TermOf<TwoNoises>::noise == eddy::NoiseClass::general);
    CHECK(order_of<TwoNoises, eddy::DRI1>() > 1.9);
    CHECK(order_of<TwoNoises, eddy::DRI1>() < 3);  // the means do differ
    CHECK(order_of<ThreeNoises, eddy::DRI1>() > 1.9);
}

TEST_CASE("weak order: DRI1 knows the second moment of the integral of one noise along another") {
    // E y2² = ½ h², of an integral that starts where the other noise is 0.
    double square = 0;
    for (int i = 0; i < num_nodes; ++i) {
        for (int j = 0; j < num_nodes; ++j) {
            const State end =
                step<NoiseAlongNoise, eddy::DRI1>(State{}, {nodes[i], nodes[j], 0}, 0.25);
            square += weights[i] * weights[j] * end[1] * end[1];
        }
    }
    CHECK(square == Approx(0.25 * 0.25 / 2).epsilon(1e-13));
}

TEST_CASE("weak order: the sign of two noises is a fair coin beside each value of W") {
    // Of 2^16 steps; bounds are five standard errors.
    constexpr int count = 1 << 16;
    eddy::NoisePlan plan;
    plan.key = eddy::PhiloxKey(3);
    int counts[3][2] = {};
    for (int at = 0; at < count; ++at) {
        const eddy::BrownianPath<double> path({0, 0, 0.25}, plan, {0, static_cast<double>(at)});
        const eddy::WeakNoise<double, 2> noise(path);
        const double w = noise.w(0), product = 2 * noise.cross<0, 1>() / 0.5 - 4 * w * noise.w(1);
        const double z = -product;  // I_01 = (W_0 W_1 − h s_0 s_1)/2
        REQUIRE((w == 0 || std::abs(std::abs(w) - std::sqrt(0.75)) < 1e-15));
        REQUIRE(std::abs(std::abs(z) - 1) < 1e-14);
        // The same from the other side: I_10 = (W_0 W_1 + h s_0 s_1)/2.
        REQUIRE(2 * noise.cross<1, 0>() / 0.5 - 4 * w * noise.w(1) == Approx(z).epsilon(1e-14));
        ++counts[w == 0 ? 1 : w > 0 ? 2 : 0][z > 0 ? 1 : 0];
    }
    for (int value = 0; value < 3; ++value) {
        for (const int found : counts[value]) {
            const double expected = value == 1 ? 1. / 3 : 1. / 12;
            CHECK(std::abs(found - count * expected) <
                  5 * std::sqrt(count * expected * (1 - expected)));
        }
    }
}
