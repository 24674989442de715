#include <eddy/checkpoint/scan.hpp>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/loop_bodies.hpp"
#include "support/message_of.hpp"

using eddy::checkpoint_scan;
using eddy::LoopOptions;
using eddy::Placement;
using std::int64_t;
using support::Swirl;

namespace {

const Swirl::State start{0.1, 0.2};
const Swirl::State cotangent{1.0, -0.5};

// carry' = 0.5 carry + x^2, output = carry x. Counts its calls.
struct Filter {
    mutable int64_t advances = 0;

    std::pair<double, double> advance(double carry, double x, int64_t) const {
        ++advances;
        return {0.5 * carry + x * x, carry * x};
    }
    std::pair<double, double> pullback(double carry, double x, int64_t, double carry_cotangent,
                                       double output_cotangent) {
        return {0.5 * carry_cotangent + x * output_cotangent,
                2 * x * carry_cotangent + carry * output_cotangent};
    }
};

// A number that counts its copies.
struct Counted {
    static inline int64_t copies = 0;
    double value = 0;

    Counted() = default;
    Counted(double number) : value(number) {}
    Counted(const Counted& other) : value(other.value) { ++copies; }
    Counted(Counted&&) = default;
    Counted& operator=(const Counted& other) {
        value = other.value;
        ++copies;
        return *this;
    }
    Counted& operator=(Counted&&) = default;
    ~Counted() = default;
};

// Filter, whose cotangents are pulled back in place.
struct FilterInPlace {
    std::pair<Counted, double> advance(Counted carry, double x, int64_t) const {
        const double output = carry.value * x;
        carry.value = 0.5 * carry.value + x * x;
        return {std::move(carry), output};
    }
    std::pair<Counted, double> pullback(const Counted&, double, int64_t, const Counted&, double) {
        throw std::logic_error("pullback where pullback_in_place would do");
    }
    double pullback_in_place(const Counted& carry, double x, int64_t, Counted& cotangent,
                             double output_cotangent) {
        const double of_input = 2 * x * cotangent.value + carry.value * output_cotangent;
        cotangent.value = 0.5 * cotangent.value + x * output_cotangent;
        return of_input;
    }
};

}  // namespace

TEST_CASE("checkpoint_scan: pullback_in_place is used, and copies no cotangent") {
    const std::vector<double> inputs{1, 2, 3, 4, 5, 6}, output_cotangents{1, 0, 2, 1, -1, 3};
    const LoopOptions options{.placement = Placement::store_all};
    auto plain = checkpoint_scan(Filter{}, 8.0, inputs, options);
    auto in_place = checkpoint_scan(FilterInPlace{}, Counted(8.0), inputs, options);
    const auto [of_carry, of_inputs] = plain.reverse(0.25, output_cotangents);

    Counted::copies = 0;
    const auto pulled = in_place.reverse(Counted(0.25), output_cotangents);

    CHECK(pulled.first.value == of_carry);
    CHECK(pulled.second == of_inputs);
    CHECK(Counted::copies == 1);  // of the argument
}

TEST_CASE(
    "checkpoint_scan: nested lengths keep the sum, recompute one pass per inner length, change no "
    "bit") {
    auto all = checkpoint_scan(Swirl{}, start, 1000, {.placement = Placement::store_all});
    auto nested = checkpoint_scan(Swirl{}, start, 1000, {.nested_lengths = {10, 10, 10}});
    auto optimal = checkpoint_scan(Swirl{}, start, 1000, {.checkpoints = 16});

    CHECK(nested.last() == all.last());
    const auto gradient = all.reverse(cotangent);
    CHECK(nested.reverse(cotangent) == gradient);
    CHECK(optimal.reverse(cotangent) == gradient);
    CHECK(nested.counters().peak_checkpoints <= 30);
    CHECK(nested.counters().recomputed <= 2 * 1000);
    CHECK(optimal.counters().recomputed == eddy::schedule::optimal_recomputations(1000, 16));
}

TEST_CASE("checkpoint_scan: lengths whose product is another are refused with both numbers") {
    const std::string message = support::message_of([] {
        (void)checkpoint_scan(Swirl{}, start, 1001, {.nested_lengths = {10, 10, 10}});
    });
    CHECK(support::mentions(message, "1000"));
    CHECK(support::mentions(message, "1001"));
    CHECK_THROWS_AS(checkpoint_scan(Swirl{}, start, -1, {.checkpoints = 3}), eddy::InvalidArgument);
    CHECK_THROWS_AS(checkpoint_scan(Swirl{}, start, 2, {}), eddy::InvalidArgument);
    CHECK_THROWS_AS(checkpoint_scan(Swirl{}, start, 10, {.checkpoints = 3, .max_steps = 9}),
                    eddy::InvalidArgument);
}

TEST_CASE(
    "checkpoint_scan: inputs and outputs by step, exact for integers, under every placement") {
    // Small integers times powers of two: no rounding, so the expected numbers are exact.
    const std::vector<double> inputs{1, 2, 3, 4};
    // carries 8, 5, 6.5, 12.25, 22.125
    const std::vector<double> outputs{8, 10, 19.5, 49};
    const std::vector<double> output_cotangents{1, 0, 2, 1};
    const std::vector<LoopOptions> all_options = {{.checkpoints = 1},
                                                  {.checkpoints = 2},
                                                  {.placement = Placement::store_all},
                                                  {.placement = Placement::none},
                                                  {.nested_lengths = {2, 2}}};
    for (const LoopOptions& options : all_options) {
        auto scan = checkpoint_scan(Filter{}, 8.0, inputs, options);
        CHECK(scan.last() == 22.125);
        CHECK(scan.outputs() == outputs);

        const auto [carry, xs] = scan.reverse(16.0, output_cotangents);

        // Carry cotangents from the end: 16, 8 + 4 = 12, 6 + 6 = 12, 6, 3 + 1 = 4.
        CHECK(carry == 4.0);
        CHECK(xs == std::vector<double>{2 * 1 * 6 + 8, 2 * 2 * 12 + 0, 2 * 3 * 12 + 2 * 6.5,
                                        2 * 4 * 16 + 12.25});
        CHECK(scan.outputs() == outputs);
    }
}

TEST_CASE("checkpoint_scan: an empty scan returns its carry and no outputs") {
    auto scan = checkpoint_scan(Filter{}, 8.0, std::vector<double>{}, {.checkpoints = 1});
    CHECK(scan.last() == 8.0);
    CHECK(scan.outputs().empty());
    CHECK(scan.reverse(3.0, {}) == std::pair{3.0, std::vector<double>{}});
}

TEST_CASE("checkpoint_scan: one output cotangent a step, and one input a step of a given length") {
    auto scan = checkpoint_scan(Filter{}, 8.0, std::vector<double>{1, 2}, {.checkpoints = 1});
    CHECK_THROWS_AS(scan.reverse(1.0, {1.0}), eddy::InvalidArgument);
    CHECK_THROWS_AS(
        checkpoint_scan(Filter{}, 8.0, std::vector<double>{1, 2}, {.checkpoints = 1, .length = 3}),
        eddy::InvalidArgument);
}

TEST_CASE("checkpoint_scan: a reversal inside its own reversal is refused, and changes nothing") {
    struct Curious : Filter {
        std::function<void()> asks;
        std::pair<double, double> pullback(double carry, double x, int64_t step, double of_carry,
                                           double of_output) {
            if (asks && step == 5) asks();
            return Filter::pullback(carry, x, step, of_carry, of_output);
        }
    };
    const std::vector<double> inputs(12, 0.3), ones(12, 1.0);
    auto expected = checkpoint_scan(Filter{}, 0.5, inputs, {.checkpoints = 3});
    auto scan = checkpoint_scan(Curious{}, 0.5, inputs, {.checkpoints = 3});
    scan.body().asks = [&] {
        CHECK(support::message_of([&] { (void)scan.reverse(1.0, ones); }) ==
              "CheckpointedScan::reverse: this loop is in a call already, and serves one at a "
              "time; use another loop in its condition, in its body and in each thread");
    };

    CHECK(scan.reverse(1.0, ones) == expected.reverse(1.0, ones));
}

TEST_CASE("checkpoint_scan: checkpoints may live in any store") {
    auto scan = checkpoint_scan(Swirl{}, start, 100, {.checkpoints = 5},
                                support::StrictStore<Swirl::State>{});
    auto expected = checkpoint_scan(Swirl{}, start, 100, {.placement = Placement::store_all});

    CHECK(scan.reverse(cotangent) == expected.reverse(cotangent));
    CHECK(scan.store().held() == 0);
}
