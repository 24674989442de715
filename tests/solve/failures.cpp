// A lane that fails says where and why, and nobody else notices.

#include <chrono>
#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using eddy::Result;
using eddy::SolveOptions;
using support::Array;
using support::rows;
using support::same_row;

/// All ways to fail, chosen by the parameters (blow, root, speed): y0' = blow y0² − y1,
/// y1' = y0 + √(1 − root t) − speed (y1 − 1).
struct Perilous {
    static constexpr int state_size = 2, parameter_size = 3;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * (y[0] * y[0]) - y[1],
                         y[0] + eddy::sqrt(1 - p[1] * t) - p[2] * (y[1] - 1));
    }
};
/// A loss whose gradient with respect to either component is the other one.
struct Product {
    static constexpr int data_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        return y[0] * y[1] * data[0] + data[1];
    }
};

const Array good_p = rows({{0, 0, 1}}), blowing_p = rows({{1, 0, 1}}), rooted_p = rows({{0, 1, 1}});

SolveOptions until(double t1) { return {.t1 = t1, .rtol = 1e-6, .save_at = {0.25, t1}}; }
const std::vector<Array> two_points(2, rows({{1, 0}}));

struct Ensemble {
    Array y0, p;
};

/// Lanes that succeed, and between them, at every third place, the one that does not.
Ensemble sprinkled(std::ptrdiff_t lanes, const Array& bad_y0, const Array& bad_p) {
    Ensemble ensemble{Array(lanes, 2), Array(lanes, 3)};
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        const bool bad = lane % 3 == 1;
        for (int i = 0; i < 2; ++i)
            ensemble.y0(lane, i) = bad ? bad_y0(0, i) : 0.1 + 0.01 * static_cast<double>(lane + i);
        for (int i = 0; i < 3; ++i) ensemble.p(lane, i) = bad ? bad_p(0, i) : good_p(0, i);
    }
    return ensemble;
}

template <class... Extras>
auto differentiate(const Ensemble& lanes, const SolveOptions& options, const Extras&... extras) {
    return eddy::value_and_gradient(Perilous{}, eddy::Bosh3{}, Product{}, two_points, lanes.y0,
                                    lanes.p, options, extras...);
}

/// Solves and differentiates; every third lane must end as `wanted`, and the others as if those
/// were not there. Returns what was said of a lane that failed.
eddy::LaneFailure check_failure(const Array& bad_y0, const Array& bad_p, Result wanted,
                                const SolveOptions& options) {
    constexpr std::ptrdiff_t lanes = 100;
    const auto mixed = sprinkled(lanes, bad_y0, bad_p);
    const auto good = sprinkled(lanes, rows({{0.5, 0.5}}), good_p);
    const auto solution = eddy::solve(Perilous{}, eddy::Bosh3{}, mixed.y0, mixed.p, options);
    const auto alone = eddy::solve(Perilous{}, eddy::Bosh3{}, good.y0, good.p, options);
    const auto result = differentiate(mixed, options);
    const auto result_alone = differentiate(good, options);
    REQUIRE(alone.success());
    CHECK_FALSE(solution.success());
    double totals[2] = {};  // of blocks of 64 lanes
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        INFO("lane " << lane);
        if (lane % 3 == 1) {
            CHECK(solution.result(lane) == wanted);
            CHECK(result.report.result(lane) == wanted);
            CHECK(std::isnan(solution.y(1)(lane, 0)));
            CHECK(std::isnan(result.loss(lane)));
            for (int i = 0; i < 2; ++i) CHECK(result.gradient.y0(lane, i) == 0);
            for (int i = 0; i < 3; ++i) CHECK(result.gradient.p(lane, i) == 0);
        } else {
            CHECK(solution.result(lane) == Result::success);
            for (int k = 0; k < 2; ++k) CHECK(same_row(solution.y(k), lane, alone.y(k), lane));
            CHECK(support::same_bits(result.loss(lane), result_alone.loss(lane)));
            CHECK(same_row(result.gradient.y0, lane, result_alone.gradient.y0, lane));
            CHECK(same_row(result.gradient.p, lane, result_alone.gradient.p, lane));
            totals[lane / 64] += result.loss(lane);
        }
    }
    CHECK(result.loss.total_of_successful == totals[0] + totals[1]);
    // Bounded work: a thousand rejections would be a hang in disguise.
    CHECK(solution.stats(1).accepted + solution.stats(1).rejected <= options.max_steps);
    return solution.failure(1);
}

}  // namespace

TEST_CASE("failures: a lane that blows up stops where it does, and blames what grew") {
    // y0' = y0² with nothing else of weight: y0 = 1/(1/10 − t) is infinite at t = 0.1.
    const auto failure = check_failure(rows({{10, 0}}), blowing_p, Result::dt_underflow, until(2));

    CHECK(std::fabs(failure.t - 0.1) < 0.01);
    CHECK(failure.component == 0);
    CHECK(failure.step > 20);
}

TEST_CASE("failures: a lane that meets NaN stops before it") {
    // The root of 1 − t is NaN after t = 1. With five checkpoints it is met many times.
    auto options = until(2);
    options.checkpoints = 5;
    const auto failure = check_failure(rows({{0.5, 0.5}}), rooted_p, Result::non_finite, options);

    CHECK(failure.t > 0.99);
    CHECK(failure.t <= 1);
}

TEST_CASE("failures: a lane that is NaN from its first derivative on") {
    const auto failure = check_failure(rows({{1e200, 0}}), blowing_p, Result::non_finite, until(2));

    CHECK(failure.t == 0);
    CHECK(failure.component == 0);
    CHECK(failure.step < 1000);
}

TEST_CASE("failures: a lane whose steps would have to be smaller than dt_min") {
    // A decay rate of 1e5 asks for steps of about 1e-5.
    auto options = until(2);
    options.dt_min = 1e-3;
    const auto failure =
        check_failure(rows({{0.5, 0.5}}), rows({{0, 0, 1e5}}), Result::dt_underflow, options);

    CHECK(failure.t < 0.01);
    CHECK(failure.component == 1);
}

TEST_CASE("failures: a lane that needs more than max_steps") {
    auto options = until(2);
    options.max_steps = 300;
    const auto failure =
        check_failure(rows({{0.5, 0.5}}), rows({{0, 0, 1e5}}), Result::max_steps_reached, options);

    CHECK(failure.step == 300);
    CHECK(failure.t > 0);
    CHECK(failure.t < 0.1);
    CHECK(failure.component == -1);
}

TEST_CASE("failures: with steps of constant size, a lane stops at the first that is not finite") {
    const auto lanes = sprinkled(30, rows({{10, 0}}), blowing_p);
    const auto good = sprinkled(30, rows({{0.5, 0.5}}), good_p);
    const SolveOptions options{.t1 = 10, .save_at = {0.25, 10}, .dt0 = 0.01};

    const auto result = differentiate(lanes, options, eddy::ConstantController{});
    const auto alone = differentiate(good, options, eddy::ConstantController{});

    for (std::ptrdiff_t lane = 0; lane < 30; ++lane) {
        INFO("lane " << lane);
        const bool bad = lane % 3 == 1;
        CHECK(result.report.result(lane) == (bad ? Result::non_finite : Result::success));
        CHECK(result.report.stats(lane).rejected == 0);
        if (bad) {
            CHECK(std::isnan(result.loss(lane)));
            CHECK(result.gradient.y0(lane, 0) == 0);
        } else {
            CHECK(result.report.stats(lane).accepted == 1000);
            CHECK(same_row(result.gradient.y0, lane, alone.gradient.y0, lane));
            CHECK(same_row(result.gradient.p, lane, alone.gradient.p, lane));
        }
    }
    const auto failure = result.report.failure(1);
    CHECK(failure.t > 0.1);
    CHECK(failure.t < 0.3);
    CHECK(failure.component == 0);
    CHECK(std::fabs(failure.t - 0.01 * static_cast<double>(failure.step)) < 1e-12);
}

TEST_CASE("failures: a lane that fails adds nothing to the gradient of shared parameters") {
    const Array good = rows({{0.1, 0.2}, {0.3, 0.4}});
    const Array with_bad = rows({{0.1, 0.2}, {50, 0}, {0.3, 0.4}, {1e200, 0}});
    const auto of = [&](const Array& y0) {
        return eddy::value_and_gradient(Perilous{}, eddy::Bosh3{}, Product{}, two_points, y0,
                                        eddy::shared(std::vector{0.5, 0., 1.}), until(2));
    };

    const auto mixed = of(with_bad), clean = of(good);

    CHECK(mixed.report.result(0) == Result::success);
    CHECK(eddy::is_failure(mixed.report.result(1)));
    CHECK(eddy::is_failure(mixed.report.result(3)));
    CHECK(mixed.loss.total_of_successful == clean.loss.total);
    CHECK(std::isnan(mixed.loss.total));
    for (int i = 0; i < 3; ++i) {
        // Other places in the packs: another order of the sum.
        CHECK(std::fabs(mixed.gradient.p(0, i) - clean.gradient.p(0, i)) <=
              4e-16 * std::fabs(clean.gradient.p(0, i)));
    }
    CHECK(clean.gradient.p(0, 0) != 0);
}

TEST_CASE("failures: require_success names lanes, times, steps and what to do") {
    const auto lanes = sprinkled(40, rows({{10, 0}}), blowing_p);
    const auto solution = eddy::solve(Perilous{}, eddy::Bosh3{}, lanes.y0, lanes.p, until(2));

    const std::string message = support::message_of([&] { eddy::require_success(solution); });

    CHECK(support::mentions(message, "13 of 40 trajectories failed\n  trajectory 1 at t = 0."));
    CHECK(support::mentions(message, "  trajectory 22 at t = 0."));  // the eighth
    CHECK_FALSE(support::mentions(message, "trajectory 25"));
    CHECK(support::mentions(message, ", component 0: the step size fell below dt_min"));
    CHECK(support::mentions(message, ", step " + std::to_string(solution.failure(1).step) + ","));
    CHECK(support::message_of([&] {
              const auto good = sprinkled(3, rows({{0.5, 0.5}}), good_p);
              eddy::require_success(
                  eddy::solve(Perilous{}, eddy::Bosh3{}, good.y0, good.p, until(2)));
          }).empty());
}

TEST_CASE("failures: a call that is cancelled before it begins computes nothing") {
    std::stop_source source;
    source.request_stop();
    const auto lanes = sprinkled(1000, rows({{0.5, 0.5}}), good_p);
    auto options = until(2);
    options.rtol = 1e-9;  // more than a few hundred steps: a request is looked at now and then
    options.cancelled = source.get_token();

    const auto result = differentiate(lanes, options);
    const auto solution = eddy::solve(Perilous{}, eddy::Bosh3{}, lanes.y0, lanes.p, options);

    for (std::ptrdiff_t lane = 0; lane < 1000; ++lane) {
        CHECK(result.report.result(lane) == Result::cancelled);
        CHECK(std::isnan(result.loss(lane)));
        CHECK(result.gradient.p(lane, 2) == 0);
        CHECK(solution.result(lane) == Result::cancelled);
        CHECK(std::isnan(solution.y(1)(lane, 0)));
    }
    CHECK(std::isnan(result.loss.total));  // of no lane at all
    CHECK(support::mentions(support::message_of([&] { eddy::require_success(solution); }),
                            "1000 of 1000 trajectories failed"));
}

TEST_CASE("failures: a call that is cancelled ends soon, each lane where it was") {
    std::stop_source source;
    const auto lanes = sprinkled(10, rows({{0.5, 0.5}}), good_p);
    // 10^12 steps: hours.
    const SolveOptions options{.t1 = 1,
                               .save_at = {0, 1},
                               .dt0 = 1e-12,
                               .max_steps = std::int64_t{1} << 40,
                               .cancelled = source.get_token()};
    std::jthread canceller([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        source.request_stop();
    });

    const auto solution = eddy::solve(Perilous{}, eddy::Bosh3{}, lanes.y0, lanes.p, options,
                                      eddy::ConstantController{});

    for (std::ptrdiff_t lane = 0; lane < 10; ++lane) {
        CHECK(solution.result(lane) == Result::cancelled);
        CHECK(same_row(solution.y(0), lane, lanes.y0, lane));
        CHECK(std::isnan(solution.y(1)(lane, 0)));
        const auto failure = solution.failure(lane);
        CHECK(failure.component == -1);
        CHECK(std::fabs(failure.t - 1e-12 * static_cast<double>(failure.step)) <= 1e-6 * failure.t);
    }
}
