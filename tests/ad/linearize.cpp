// Programs as Differentiables: linearized alone, composed with one another and with what users
// write, and as bodies of loops and scans.

#include <cmath>
#include <eddy/ad/linearize.hpp>
#include <eddy/ad/vjp.hpp>
#include <eddy/checkpoint/scan.hpp>
#include <eddy/checkpoint/while_loop.hpp>
#include <eddy/core/pack_math.hpp>
#include <limits>

#include "support/catch.hpp"

using eddy::Scalar;
using eddy::Vec;
using eddy::Vector;

namespace {

/// One step of a damped pendulum.
struct Step {
    constexpr auto operator()(const auto& y, const auto& p) const {
        const auto speed = y[1] - 0.1 * (p[0] * sin(y[0]) + p[1] * y[1]);
        return eddy::vec(y[0] + 0.1 * speed, speed);
    }
};
constexpr auto step_program = eddy::trace<Vector<2>, Vector<2>>(Step{});
constexpr auto step = eddy::differentiable(step_program);

struct Energy {
    constexpr auto operator()(const auto& y) const { return y[1] * y[1] / 2 + exp(-y[0] * y[0]); }
};
constexpr auto energy_program = eddy::trace<Vector<2>>(Energy{});
constexpr auto energy = eddy::differentiable(energy_program, eddy::nothing_saveable);

/// A rotation by 90 degrees, written by hand.
struct Turn {
    struct Linearization {
        Vec<double, 2> value;
        Vec<double, 2> pullback(const Vec<double, 2>& cotangent) const {
            return {cotangent[1], -cotangent[0]};
        }
    };
    Vec<double, 2> operator()(const Vec<double, 2>& y) const { return {-y[1], y[0]}; }
    Linearization linearize(const Vec<double, 2>& y) const { return {(*this)(y)}; }
};

/// Twice a step with the parameters of a swing; differentiable in y alone.
struct Swing {
    constexpr auto operator()(const auto& y) const {
        return Step{}(Step{}(y, eddy::vec(9.81, 0.3)), eddy::vec(9.81, 0.3));
    }
};
constexpr auto swing = eddy::differentiable(eddy::trace<Vector<2>>(Swing{}));

static_assert(eddy::Differentiable<decltype(step), Vec<double, 2>, Vec<double, 2>>);
static_assert(eddy::Differentiable<decltype(energy), Vec<double, 2>>);
static_assert(eddy::Differentiable<decltype(eddy::compose(energy, Turn{}, swing)), Vec<double, 2>>);

/// Values that the compiler does not know.
Vec<double, 2> unknown(double a, double b) {
    const volatile double values[] = {a, b};
    return {values[0], values[1]};
}

/// Equal but for the order of a few roundings of numbers of order 1.
bool agree(double a, double b) {
    return std::abs(a - b) <= 16 * std::numeric_limits<double>::epsilon() * (1 + std::abs(b));
}
template <int length>
bool agree(const Vec<double, length>& a, const Vec<double, length>& b) {
    for (int k = 0; k < length; ++k) {
        if (!agree(a[k], b[k])) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("linearize: the value is the program's bit for bit, the pullback its product") {
    const auto y = unknown(0.4, -1.1), p = unknown(9.81, 0.3), cotangent = unknown(1.3, 0.7);

    const auto linearization = eddy::linearize(step_program, y, p);
    const auto [y_cotangent, p_cotangent] = linearization.pullback(cotangent);

    CHECK(linearization.value == step_program(y, p));
    CHECK(step(y, p) == step_program(y, p));
    const auto [expected_y, expected_p] = eddy::vjp(step_program)(y, p, cotangent);
    CHECK(agree(y_cotangent, expected_y));
    CHECK(agree(p_cotangent, expected_p));
}

TEST_CASE("linearize: chosen arguments only") {
    const auto y = unknown(0.4, -1.1), p = unknown(9.81, 0.3), cotangent = unknown(1.3, 0.7);

    const auto p_cotangent =
        eddy::differentiable<1>(step_program).linearize(y, p).pullback(cotangent);

    CHECK(agree(p_cotangent, eddy::vjp<1>(step_program)(y, p, cotangent)));
}

TEST_CASE("linearize: arguments behind pointers stay where they are") {
    const auto y = unknown(0.4, -1.1), p = unknown(9.81, 0.3), cotangent = unknown(1.3, 0.7);
    const double* weights = &p[0];

    const auto linearization = step.linearize(y, weights);

    CHECK(std::get<1>(linearization.arguments) == weights);
    CHECK(linearization.pullback(cotangent) == step.linearize(y, p).pullback(cotangent));
}

TEST_CASE("linearize: float and packs") {
    const auto y = unknown(0.4, -1.1);
    const Vec<float, 2> narrow{static_cast<float>(y[0]), static_cast<float>(y[1])};
    using Pack = eddy::Pack<double, 4>;
    const Vec<Pack, 2> packed{Pack(y[0]), Pack(y[1])};

    const auto expected = energy.linearize(y).pullback(1.0);
    const Vec<float, 2> in_float = energy.linearize(narrow).pullback(1.0f);
    const Vec<Pack, 2> in_packs = energy.linearize(packed).pullback(Pack(1.0));

    for (int k = 0; k < 2; ++k) {
        // 4 ulp of float for the few functions on the way.
        CHECK(std::abs(in_float[k] - static_cast<float>(expected[k])) < 4 * 6e-8f);
        CHECK(agree(in_packs[k][0], expected[k]));
        CHECK(in_packs[k][3] == in_packs[k][0]);
    }
}

TEST_CASE("linearize: a vector-Jacobian product is a program to linearize again") {
    const auto y = unknown(0.4, -1.1), p = unknown(9.81, 0.3), cotangent = unknown(1.3, 0.7),
               y_direction = unknown(0.2, 0.5), p_direction = unknown(-0.6, 1.1);
    constexpr auto gradient = eddy::vjp(step_program);

    const auto linearization = eddy::linearize(gradient, y, p, cotangent);
    const auto second = linearization.pullback(y_direction, p_direction);

    CHECK(linearization.value == gradient(y, p, cotangent));
    CHECK(second == linearization.pullback(std::tuple(y_direction, p_direction)));
    // d/dcotangent of <Jt c, v> is J v: here by differences, of a function of order 10.
    const double h = 1e-6;
    const auto moved = [&](double by) { return step(y + by * y_direction, p + by * p_direction); };
    const auto difference = (moved(h) - moved(-h)) / (2 * h);
    for (int k = 0; k < 2; ++k) CHECK(std::abs(std::get<2>(second)[k] - difference[k]) < 1e-8);
}

TEST_CASE("compose: programs with programs and with what users write") {
    const auto y = unknown(0.4, -1.1);
    const auto composed = eddy::compose(energy, Turn{}, swing);

    auto linearization = composed.linearize(y);
    const auto gradient = linearization.pullback(1.0);

    // The same as one program.
    constexpr auto whole = eddy::trace<Vector<2>>([](const auto& x) {
        const auto z = Swing{}(x);
        return Energy{}(eddy::vec(-z[1], z[0]));
    });
    CHECK(agree(linearization.value, whole(y)));
    CHECK(linearization.value == composed(y));
    CHECK(agree(gradient, eddy::vjp(whole)(y, 1.0)));
}

TEST_CASE(
    "while_loop: a program as its body, differentiated with respect to state and parameters") {
    const auto y = unknown(0.4, -1.1), p = unknown(9.81, 0.3), cotangent = unknown(1.3, 0.7);
    constexpr int num_steps = 7;
    const auto loop = eddy::while_loop([](const auto&, std::int64_t n) { return n < num_steps; },
                                       step, {.checkpoints = 2});
    const auto composed = eddy::compose(energy, loop);

    auto linearization = loop.linearize(y, p);
    const auto [y_cotangent, p_cotangent] = linearization.pullback(cotangent);
    auto whole = composed.linearize(y, p);
    const auto [energy_y, energy_p] = whole.pullback(1.0);

    // The same step by step, everything kept.
    const auto unrolled = [&](auto state_cotangent_of) {
        std::vector<decltype(step.linearize(y, p))> steps;
        Vec<double, 2> state = y;
        for (int n = 0; n < num_steps; ++n) {
            steps.push_back(step.linearize(state, p));
            state = steps.back().value;
        }
        Vec<double, 2> by_y = state_cotangent_of(state), by_p{};
        for (int n = num_steps - 1; n >= 0; --n) {
            const auto [state_cotangent, parameter_cotangent] =
                steps[static_cast<std::size_t>(n)].pullback(by_y);
            by_y = state_cotangent;
            by_p = by_p + parameter_cotangent;
        }
        return std::tuple(by_y, by_p);
    };
    const auto [expected_y, expected_p] = unrolled([&](const auto&) { return cotangent; });
    CHECK(y_cotangent == expected_y);
    CHECK(agree(p_cotangent, expected_p));
    const auto [expected_energy_y, expected_energy_p] =
        unrolled([](const auto& last) { return energy.linearize(last).pullback(1.0); });
    CHECK(energy_y == expected_energy_y);
    CHECK(agree(energy_p, expected_energy_p));
}

namespace {

/// (carry, x) -> (carry', energy of carry'), where carry' is a step with parameters x.
struct ScanStep {
    using Pair = std::pair<Vec<double, 2>, Vec<double, 2>>;
    struct Linearization {
        decltype(step.linearize(Vec<double, 2>{}, Vec<double, 2>{})) next;
        decltype(energy.linearize(Vec<double, 2>{})) output;
        std::pair<Vec<double, 2>, double> value;

        Pair pullback(const std::pair<Vec<double, 2>, double>& cotangent) const {
            const auto [carry, x] =
                next.pullback(cotangent.first + output.pullback(cotangent.second));
            return {carry, x};
        }
    };
    std::pair<Vec<double, 2>, double> operator()(const Pair& in) const {
        const auto next = step(in.first, in.second);
        return {next, energy(next)};
    }
    Linearization linearize(const Pair& in) const {
        const auto next = step.linearize(in.first, in.second);
        const auto output = energy.linearize(next.value);
        return {next, output, {next.value, output.value}};
    }
};

}  // namespace

TEST_CASE("scan: programs in its body") {
    const auto y = unknown(0.4, -1.1);
    const std::vector inputs{unknown(9.81, 0.3), unknown(5.0, 0.1), unknown(7.0, 0.2)};
    const auto scan = eddy::scan(ScanStep{}, {.checkpoints = 1});
    const std::pair<Vec<double, 2>, std::vector<double>> cotangent{unknown(1.3, 0.7),
                                                                   {0.5, -2.0, 1.0}};

    auto linearization = scan.linearize(std::pair(y, inputs));
    const auto [y_cotangent, input_cotangents] = linearization.pullback(cotangent);

    constexpr auto whole = eddy::trace<Vector<2>, Vector<6>>([](const auto& carry,
                                                                const auto& all) {
        const auto first = Step{}(carry, eddy::slice<0, 2>(all));
        const auto second = Step{}(first, eddy::slice<2, 2>(all));
        const auto third = Step{}(second, eddy::slice<4, 2>(all));
        return eddy::concat(third, eddy::vec(Energy{}(first), Energy{}(second), Energy{}(third)));
    });
    const Vec<double, 6> flat{9.81, 0.3, 5.0, 0.1, 7.0, 0.2};
    const auto [expected_y, expected_inputs] =
        eddy::vjp(whole)(y, flat, Vec<double, 5>{1.3, 0.7, 0.5, -2.0, 1.0});
    CHECK(agree(y_cotangent, expected_y));
    for (int k = 0; k < 6; ++k)
        CHECK(agree(input_cotangents[static_cast<std::size_t>(k / 2)][k % 2], expected_inputs[k]));
}
