// The options of plans by bytes and of loops inside traced functions, at their extremes.

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <eddy/ad/policy_within.hpp>
#include <eddy/ad/root.hpp>
#include <eddy/checkpoint/sequence.hpp>
#include <eddy/checkpoint/stage_plan.hpp>
#include <eddy/trace/loops.hpp>
#include <eddy/trace/trace.hpp>

#include "fuzz/check_extremes.hpp"

TEST_CASE("options_plans: PlanOptions at its extremes") {
    const eddy::StageCost stage{.state_bytes = 100, .options = {{.residual_bytes = 300}}};
    const eddy::ChainCosts costs{.stages = std::vector(8, stage), .output_bytes = 100};
    fuzz::check_extremes(eddy::PlanOptions{}, "plan", [&](const eddy::PlanOptions& options) {
        const eddy::StagePlan plan = eddy::plan(costs, options);
        CHECK(plan.peak_bytes <= options.memory_bytes);
        CHECK(plan.time >= 8);
    });
}

TEST_CASE("options_plans: SequenceOptions, none and each way to stop") {
    constexpr auto sine = eddy::trace<eddy::Scalar>([](const auto& x) { return sin(x); });
    const auto slope = [&](const eddy::SequenceOptions& options) {
        return eddy::sequence(options, sine, sine).linearize(0.5).pullback(1.0);
    };
    std::stop_source stopped;
    stopped.request_stop();
    CHECK(slope({}) == Approx(std::cos(std::sin(0.5)) * std::cos(0.5)));
    CHECK(slope({.poll = [] { return true; }}) == slope({}));
    CHECK_THROWS_AS(slope({.cancelled = stopped.get_token()}), eddy::Cancelled);
    CHECK_THROWS_AS(slope({.poll = [] { return false; }}), eddy::Cancelled);
}

TEST_CASE("options_plans: ValuePlanOptions at its extremes") {
    constexpr auto program = eddy::trace<eddy::Vector<2>, eddy::Vector<2>>(
        [](const auto& x, const auto& w) { return eddy::sin(eddy::exp(x * w)) + w; });
    const eddy::ValuePlanOptions good{.with_respect_to = {0}};
    CHECK_THROWS_AS(eddy::policy_within(program, INT64_MAX, {.peak_bytes = 0}),
                    eddy::InvalidArgument);
    fuzz::check_extremes(good, "policy_within", [&](const eddy::ValuePlanOptions& options) {
        const eddy::ValuePlan plan = eddy::policy_within(program, 64, options);
        CHECK(plan.bytes <= 64);
        CHECK(plan.peak_bytes <= options.peak_bytes);
    });
}

TEST_CASE("options_plans: WhileOptions, both values") {
    const auto doubled = [](const auto& x) { return 2. * x; };
    const auto below = [](const auto& x) { return x < 100.; };
    CHECK(eddy::bounded_while<3>(1., below, doubled, eddy::WhileOptions{.takes_last = true}) == 8);
    CHECK(std::isnan(eddy::bounded_while<3>(1., below, doubled, eddy::WhileOptions{})));
    CHECK(eddy::bounded_while<7>(1., below, doubled, eddy::WhileOptions{}) == 128);
    for (const int checkpoints : {0, 1, INT_MAX})
        CHECK(eddy::bounded_while<7>(1., below, doubled, {.checkpoints = checkpoints}) == 128);
    for (const int checkpoints : {-1, INT_MIN}) {
        CHECK_THROWS_AS(eddy::bounded_while<7>(1., below, doubled, {.checkpoints = checkpoints}),
                        eddy::InvalidArgument);
    }
}

TEST_CASE("options_plans: RepeatOptions at extremes") {
    const auto doubled = [](const auto& x) { return 2. * x; };
    for (const int length : {INT_MIN, -1, 5, INT_MAX}) {
        CHECK_THROWS_AS(
            eddy::repeat<6>(1., doubled, eddy::RepeatOptions{.nested_lengths = {length, 2}}),
            eddy::InvalidArgument);
    }
    CHECK(eddy::repeat<6>(1., doubled, eddy::RepeatOptions{}) == 64);
    CHECK(eddy::repeat<6>(1., doubled, eddy::RepeatOptions{.nested_lengths = {3, 2}}) == 64);
}

TEST_CASE("options_plans: InterpolateOptions, each rule") {
    const std::vector<double> knots{0, 1}, values{2, 3};
    const auto read = [&](eddy::Outside outside) {
        const eddy::InterpolateOptions options{.outside = outside};
        return eddy::interpolate(eddy::linear, knots, values, 2., options);
    };
    CHECK(std::isnan(read(eddy::Outside::nan)));
    CHECK(read(eddy::Outside::hold) == 3);
    CHECK(read(eddy::Outside::extrapolate) == 4);
}

TEST_CASE("options_plans: RootOptions at its extremes") {
    const auto square = [](const auto& x) { return x * x - 2.; };
    CHECK(eddy::root(1., square, eddy::RootOptions{.tolerance = 0}) == Approx(std::sqrt(2.)));
    CHECK(std::isfinite(eddy::root(1., square, eddy::RootOptions{.tolerance = 1e300})));
    CHECK(std::isnan(eddy::root(1., square, eddy::RootOptions{.max_steps = 1})));
    CHECK(std::isnan(eddy::root(1., square, eddy::RootOptions{.max_steps = 0})));
    CHECK(eddy::root(1., square, eddy::RootOptions{.max_steps = 1, .takes_last = true}) == 1.5);
}
