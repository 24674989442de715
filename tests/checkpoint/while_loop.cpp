#include <eddy/checkpoint/while_loop.hpp>

#include <eddy/ad/differentiable.hpp>
#include <eddy/checkpoint/scan.hpp>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/message_of.hpp"

using eddy::LoopOptions;
using eddy::Placement;
using std::int64_t;

namespace {

// x -> a x (1 - x), with its derivative.
struct Logistic {
    double a;

    struct Linearization {
        double value, slope;
        double pullback(double cotangent) { return slope * cotangent; }
    };

    double operator()(double x) const { return a * x * (1 - x); }
    Linearization linearize(double x) const { return {(*this)(x), a * (1 - 2 * x)}; }
};

const auto seven_times = [](double, int64_t step) { return step < 7; };

// (carry, x) -> (c, c x) where c = inner(carry + x): a loop as the body of a scan.
template <class Inner>
struct LoopBody {
    Inner inner;
    using Pair = std::pair<double, double>;

    template <class InnerLinearization>
    struct Linearization {
        InnerLinearization kept;
        double x;
        Pair value;
        Pair pullback(const Pair& cotangent) {
            const double sum = kept.pullback(cotangent.first + cotangent.second * x);
            return {sum, sum + cotangent.second * value.first};
        }
    };

    Pair operator()(const Pair& input) const {
        const double carry = inner(input.first + input.second);
        return {carry, carry * input.second};
    }
    auto linearize(const Pair& input) const {
        auto kept = inner.linearize(input.first + input.second);
        const double carry = kept.value;
        return Linearization<decltype(kept)>{
            std::move(kept), input.second, {carry, carry * input.second}};
    }
};

using State = std::pair<double, std::vector<double>>;
const State first{0.2, {0.1, 0.05, 0.2, 0.15, 0.02}};
const State last_cotangent{1.0, {0.5, -1.0, 0.25, 2.0, 1.0}};

// A loop in a scan in a loop.
auto three_levels(const LoopOptions& outer, const LoopOptions& middle, const LoopOptions& inner) {
    const auto innermost = eddy::while_loop(seven_times, Logistic{3.1}, inner);
    const auto body = eddy::scan(LoopBody<decltype(innermost)>{innermost}, middle);
    return eddy::while_loop([](const State&, int64_t step) { return step < 6; }, body, outer);
}

}  // namespace

TEST_CASE(
    "while_loop: is a Differentiable whose value and pullback are those of the composed steps") {
    const auto loop = eddy::while_loop(seven_times, Logistic{3.1});
    STATIC_REQUIRE(eddy::Differentiable<decltype(loop), double>);

    double x = 0.3, slope = 1;
    for (int i = 0; i < 7; ++i) {
        slope *= 3.1 * (1 - 2 * x);
        x = Logistic{3.1}(x);
    }
    auto linearization = loop.linearize(0.3);

    CHECK(loop(0.3) == x);
    CHECK(linearization.value == x);
    // The same factors in another order: 7 roundings each way.
    CHECK(std::abs(linearization.pullback(1.0) - slope) <= 14 * 1.2e-16 * std::abs(slope));
    CHECK(linearization.steps() == 7);
    CHECK(linearization.counters().pullbacks == 7);
}

TEST_CASE(
    "while_loop: the condition may look at the state alone, and the length may depend on it") {
    const auto shrink = eddy::while_loop([](double x) { return x > 1; }, Logistic{-0.01});

    CHECK(shrink(0.5) == 0.5);
    CHECK(shrink.linearize(0.5).pullback(2.0) == 2.0);
    CHECK(shrink.linearize(50.0).steps() == 3);  // 50, 24.5, 5.76, 0.27
}

TEST_CASE("while_loop: composes with other differentiables") {
    const auto composed =
        eddy::compose(Logistic{2.0}, eddy::while_loop(seven_times, Logistic{3.1}));
    auto linearization = composed.linearize(0.3);
    auto inner = eddy::while_loop(seven_times, Logistic{3.1}).linearize(0.3);
    const double x = inner.value;

    CHECK(linearization.value == 2.0 * x * (1 - x));
    CHECK(linearization.pullback(1.0) == inner.pullback(2.0 * (1 - 2 * x)));
}

TEST_CASE(
    "while_loop: a loop in a scan in a loop, bit for bit the same under every placement of every "
    "level") {
    const LoopOptions all{.max_steps = 20, .placement = Placement::store_all};
    const std::vector<LoopOptions> unknown_length = {
        {.checkpoints = 1},
        {.checkpoints = 2},
        {.checkpoints = 3, .placement = Placement::online_treeverse},
        {.nested_lengths = {2, 2, 2}}};
    const std::vector<LoopOptions> known_length = {{.checkpoints = 1},
                                                   {.checkpoints = 2},
                                                   {.placement = Placement::square_root},
                                                   {.nested_lengths = {5}}};

    auto expected = three_levels(all, {.placement = Placement::store_all}, all).linearize(first);
    const State gradient = expected.pullback(last_cotangent);

    CHECK(three_levels(all, {.checkpoints = 2}, all)(first) == expected.value);
    for (const LoopOptions& outer : unknown_length) {
        for (const LoopOptions& middle : known_length) {
            for (const LoopOptions& inner : unknown_length) {
                auto found = three_levels(outer, middle, inner).linearize(first);
                CHECK(found.value == expected.value);
                CHECK(found.pullback(last_cotangent) == gradient);
            }
        }
    }
}

TEST_CASE("while_loop: the gradient through three levels agrees with central differences") {
    const auto loop = three_levels({.checkpoints = 2}, {.checkpoints = 2}, {.checkpoints = 2});
    const auto value = [&](const State& x) {
        const State y = loop(x);
        double sum = last_cotangent.first * y.first;
        for (std::size_t i = 0; i < y.second.size(); ++i)
            sum += last_cotangent.second[i] * y.second[i];
        return sum;
    };
    // Central differences with h = 1e-6: rounding eps |f| / h is 1e-10, and the h^2 term below it
    // unless f''' > 1e2.
    constexpr double h = 1e-6;

    const State gradient = loop.linearize(first).pullback(last_cotangent);

    State up = first, down = first;
    up.first += h;
    down.first -= h;
    CHECK(std::abs(gradient.first - (value(up) - value(down)) / (2 * h)) < 1e-8);
    for (std::size_t i = 0; i < first.second.size(); ++i) {
        up = down = first;
        up.second[i] += h;
        down.second[i] -= h;
        CHECK(std::abs(gradient.second[i] - (value(up) - value(down)) / (2 * h)) < 1e-8);
    }
}

TEST_CASE("while_loop: bad options are refused when the loop is made") {
    CHECK_THROWS_AS(eddy::while_loop(seven_times, Logistic{3.1}, {}), eddy::InvalidArgument);
    CHECK(support::mentions(
        support::message_of([] { (void)eddy::while_loop(seven_times, Logistic{3.1}, {}); }),
        "while_loop: checkpoints = 0"));
}

TEST_CASE("while_loop: stops at max_steps, and the linearization says so") {
    const auto loop =
        eddy::while_loop(seven_times, Logistic{3.1}, {.checkpoints = 2, .max_steps = 3});
    auto linearization = loop.linearize(0.3);

    CHECK(linearization.value == loop(0.3));
    CHECK(linearization.steps() == 3);
    CHECK(linearization.result() == eddy::Result::max_steps_reached);
}
