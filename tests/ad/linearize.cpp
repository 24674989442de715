// Programs as Differentiables: linearized alone, composed with one another and with what users
// write, and as bodies of loops and scans.

#include <cmath>
#include <eddy/ad/linearize.hpp>
#include <eddy/ad/vjp.hpp>
#include <eddy/checkpoint/program_scan.hpp>
#include <eddy/checkpoint/scan.hpp>
#include <eddy/checkpoint/while_loop.hpp>
#include <eddy/core/pack_math.hpp>
#include <limits>

#include "support/catch.hpp"
#include "support/message_of.hpp"

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

TEST_CASE("compose: traced programs go in as they are, and into remat and while_loop") {
    const auto y = unknown(0.4, -1.1), p = unknown(9.81, 0.3), cotangent = unknown(1.3, 0.7);
    const auto seven = [](const auto&, std::int64_t n) { return n < 7; };
    static_assert(eddy::Differentiable<decltype(eddy::compose(energy_program)), Vec<double, 2>>);

    auto composed = eddy::compose(energy_program, Turn{}, step_program).linearize(y, p);
    auto expected = eddy::compose(energy, Turn{}, step).linearize(y, p);
    CHECK(composed.value == expected.value);
    CHECK(composed.pullback(1.0) == expected.pullback(1.0));

    auto dropped = eddy::compose(eddy::remat(energy_program), eddy::remat(step_program));
    auto kept = eddy::compose(energy, step).linearize(y, p);
    CHECK(dropped(y, p) == kept.value);
    CHECK(dropped.linearize(y, p).pullback(1.0) == kept.pullback(1.0));

    auto looped = eddy::while_loop(seven, step_program, {.checkpoints = 2}).linearize(y, p);
    auto expected_loop = eddy::while_loop(seven, step, {.checkpoints = 2}).linearize(y, p);
    CHECK(looped.value == expected_loop.value);
    CHECK(looped.pullback(cotangent) == expected_loop.pullback(cotangent));
}

namespace {

/// Of four values one has a name.
struct Named {
    constexpr auto operator()(const auto& x, const auto& q) const {
        return sin(checkpoint_name(exp(sin(x)), "kept") * q);
    }
};
constexpr auto named = eddy::trace<Vector<2>, Vector<2>>(Named{});

}  // namespace

TEST_CASE("remat: of a program outside a trace keeps what its policy allows") {
    const auto y = unknown(0.4, -1.1), p = unknown(9.81, 0.3), cotangent = unknown(1.3, 0.7);

    const auto nothing = eddy::remat(named).linearize(y, p);
    const auto few = eddy::remat(named, eddy::save_only_these_names<"kept">).linearize(y, p);

    CHECK(nothing.residuals.size() == 0);
    CHECK(few.residuals.size() == 2);
    CHECK(nothing.pullback(cotangent) == few.pullback(cotangent));
}

namespace {

/// A cell whose output is another value than its carry.
struct Cell {
    constexpr auto operator()(const auto& carry, const auto& q) const {
        const auto next = Step{}(carry, q);
        return std::tuple(next, Energy{}(next));
    }
};
constexpr auto cell = eddy::trace<Vector<2>, Vector<2>>(Cell{});
/// A layer, for weights of its own in each step and a bias that is the same in all.
struct Layer {
    constexpr auto operator()(const auto& x, const auto& w, const auto& bias) const {
        return tanh(checkpoint_name(dense(w, eddy::vec(bias, 0.5 * bias), x), "product"));
    }
};
constexpr auto layer = eddy::trace<Vector<2>, Vector<4>, Scalar>(Layer{});

std::vector<Vec<double, 4>> weights_of(int count) {
    std::vector<Vec<double, 4>> weights;
    for (int k = 0; k < count; ++k) {
        const auto diagonal = unknown(0.9 + 0.01 * (k % 7), 1.1 - 0.02 * (k % 5));
        weights.push_back({diagonal[0], 0.2, -0.3, diagonal[1]});
    }
    return weights;
}

}  // namespace

TEST_CASE("trace: a function with several results returns a tuple, and so does the program") {
    const auto y = unknown(0.4, -1.1), p = unknown(9.81, 0.3);
    constexpr auto nested = eddy::trace<Vector<2>>([](const auto& x) {
        return std::pair(sin(x), std::tuple(x[0] * x[1], eddy::vec(x[1], x[0])));
    });

    const auto [next, output] = cell(y, p);
    CHECK(next == step(y, p));
    CHECK(output == energy(next));
    const auto [sines, product, swapped] = nested(y);
    CHECK(product == y[0] * y[1]);
    CHECK(swapped == Vec<double, 2>{y[1], y[0]});
    CHECK(sines[1] == eddy::sin(y)[1]);
    // Their pullback takes one cotangent for each.
    const auto linearization = eddy::linearize(nested, y);
    const auto pulled = linearization.pullback(Vec<double, 2>{}, 2.0, Vec<double, 2>{3.0, 5.0});
    CHECK(pulled == Vec<double, 2>{2 * y[1] + 5, 2 * y[0] + 3});
}

TEST_CASE("scan: a program with an output a step, as with a body written by hand") {
    const auto y = unknown(0.4, -1.1);
    const std::vector inputs{unknown(9.81, 0.3), unknown(5.0, 0.1), unknown(7.0, 0.2)};
    const std::pair<Vec<double, 2>, std::vector<double>> cotangent{unknown(1.3, 0.7),
                                                                   {0.5, -2.0, 1.0}};
    auto expected = eddy::scan(ScanStep{}, {.checkpoints = 1}).linearize(std::pair(y, inputs));
    const auto [expected_y, expected_inputs] = expected.pullback(cotangent);

    for (const eddy::LoopOptions& options :
         {eddy::LoopOptions{.placement = eddy::Placement::store_all},
          eddy::LoopOptions{.checkpoints = 1},
          eddy::LoopOptions{.checkpoints = 2, .keep = eddy::Keep::residuals}}) {
        const auto scan = eddy::scan(cell, options);
        auto linearization = scan.linearize(y, inputs);
        const auto [y_cotangent, input_cotangents] = linearization.pullback(cotangent);

        CHECK(linearization.value == expected.value);
        CHECK(scan(y, inputs) == expected.value);
        CHECK(agree(y_cotangent, expected_y));
        for (std::size_t k = 0; k < 3; ++k) CHECK(agree(input_cotangents[k], expected_inputs[k]));
    }
}

// row 8: a budget in bytes
TEST_CASE("scan: within a budget of bytes carries and residuals are planned") {
    const auto x = unknown(0.4, -1.1), cotangent = unknown(1.3, 0.7);
    const auto weights = weights_of(64);
    const double bias = unknown(0.1, 0)[0];
    auto all = eddy::scan(layer).linearize(x, weights, bias);
    const auto expected = all.pullback(cotangent);
    const std::int64_t whole = all.counters().peak_bytes;
    CHECK(whole % 64 == 0);

    std::int64_t before = 64 * 64;
    for (std::int64_t bytes : {whole / 40, whole / 16, whole / 4, whole / 2, whole}) {
        const eddy::LoopOptions options{.memory_bytes = bytes, .keep = eddy::Keep::residuals};
        auto linearization = eddy::scan(layer, options).linearize(x, weights, bias);
        CHECK(linearization.value == all.value);
        CHECK(linearization.pullback(cotangent) == expected);
        CHECK(linearization.counters().peak_bytes <= bytes);
        CHECK(linearization.counters().advances < before);
        before = linearization.counters().advances;
    }
    CHECK(before == 64);

    auto carries = eddy::scan(layer, {.memory_bytes = 5 * sizeof(x)}).linearize(x, weights, bias);
    CHECK(carries.pullback(cotangent) == expected);
    CHECK(carries.counters().peak_checkpoints == 5);
    CHECK(carries.counters().peak_bytes == 5 * sizeof(x));
}

TEST_CASE("scan: over layers, each step keeps what the policy allows, the gradient has one value") {
    const auto x = unknown(0.4, -1.1), cotangent = unknown(1.3, 0.7);
    const auto weights = weights_of(64);
    const double bias = unknown(0.1, 0)[0];
    const auto gradient = [&](const auto& net) {
        auto linearization = net.linearize(x, weights, bias);
        auto pulled = linearization.pullback(cotangent);
        return std::tuple(linearization.value, std::get<0>(pulled), std::get<1>(pulled),
                          std::get<2>(pulled), linearization.counters().advances);
    };

    const auto all = gradient(eddy::scan(layer));
    CHECK(std::get<4>(all) == 64);  // nothing is evaluated twice
    CHECK(gradient(eddy::scan<eddy::dots_saveable>(layer)) == all);
    CHECK(gradient(eddy::scan<eddy::nothing_saveable>(layer)) == all);
    CHECK(gradient(eddy::scan(
              eddy::differentiable(layer, eddy::save_only_these_names<"product">))) == all);

    // row 52: a step's argument, and its product or the tanh of that, two numbers each; with
    // checkpoints seven carries, and those of eight steps.
    const auto peak_bytes = [&](const auto& net) {
        return net.linearize(x, weights, bias).counters().peak_bytes;
    };
    CHECK(peak_bytes(eddy::scan(layer)) == 64 * (16 + 16));
    CHECK(peak_bytes(eddy::scan<eddy::dots_saveable>(layer)) == 64 * (16 + 16));
    CHECK(peak_bytes(eddy::scan<eddy::nothing_saveable>(layer)) == 64 * 16);
    CHECK(peak_bytes(eddy::scan<eddy::dots_saveable>(layer, {.checkpoints = 8})) ==
          7 * 16 + 8 * (16 + 16));

    // Residuals of a segment of eight steps, and carries: 64 + 56 evaluations.
    auto expected = all;
    std::get<4>(expected) = 64 + 56;
    const auto few = eddy::scan<eddy::dots_saveable>(layer, {.checkpoints = 8});
    CHECK(gradient(few) == expected);
    CHECK(few.linearize(x, weights, bias).counters().peak_checkpoints == 7);
    // Carries only: every step is evaluated once more, in its pullback, which is not counted.
    const auto carries = gradient(eddy::scan(layer, {.checkpoints = 64}));
    CHECK(carries == all);
}

TEST_CASE("scan: of a program, arguments of another length or none are told") {
    const auto x = unknown(0.4, -1.1);
    const auto two = eddy::trace<Vector<2>, Scalar, Scalar>(
        [](const auto& y, const auto& a, const auto& b) { return a * y + b; });
    const auto message = [&](const auto& a, const auto& b) {
        return support::message_of([&] { (void)eddy::scan(two).linearize(x, a, b); });
    };
    const std::vector<double> three(3, 1.0), four(4, 1.0);

    CHECK(message(three, four) ==
          "scan: argument 2 has 4 steps but one before it has 3; give every step one of each");
    CHECK(message(1.0, 2.0) ==
          "scan: no argument is a range with one a step, and no length is given; give one of them");
    // The same in every step, and a length: x -> 2 x + 1, four times.
    const eddy::LoopOptions four_times{.placement = eddy::Placement::store_all, .length = 4};
    auto linearization = eddy::scan(two, four_times).linearize(Vec<double, 2>{1.0, 0.0}, 2.0, 1.0);
    CHECK(linearization.value == Vec<double, 2>{31.0, 15.0});
    const auto [by_x, by_a, by_b] = linearization.pullback(Vec<double, 2>{1.0, 0.0});
    CHECK(by_x == Vec<double, 2>{16.0, 0.0});
    CHECK(by_a == 8 + 4 * 3 + 2 * 7 + 15);
    CHECK(by_b == 15);
}

namespace {

constexpr auto sine = eddy::trace<Scalar>([](const auto& x) { return sin(x); });

/// sin applied `length` times, halves dropped, their halves too, and so on.
template <int length>
constexpr auto halved_chain() {
    if constexpr (length == 1) {
        return eddy::differentiable(sine);
    } else {
        const auto half = eddy::remat(halved_chain<length / 2>());
        return eddy::compose(half, half);
    }
}

}  // namespace

TEST_CASE("remat, compose: 1,024 stages halved recursively have the bits of all that is kept") {
    const double x = unknown(0.7, 0)[0];
    std::vector<double> states{x};
    for (int k = 0; k < 1024; ++k) states.push_back(sine(states.back()));
    double expected = 1;
    for (int k = 1024; k-- > 0;)
        expected = eddy::differentiable(sine)
                       .linearize(states[static_cast<std::size_t>(k)])
                       .pullback(expected);

    auto linearization = halved_chain<1024>().linearize(x);

    CHECK(linearization.value == states.back());
    CHECK(linearization.pullback(1.0) == expected);
}
