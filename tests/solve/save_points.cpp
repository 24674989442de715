// Where a lane ends although its steps are good: a save point that is not finite, and a limit of
// steps that is reached on a stop. Forward and gradient tell the same of every lane.

#include <cmath>
#include <cstdint>
#include <eddy/backends/cpu.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/dopri8.hpp>
#include <limits>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"

namespace {

using eddy::Result;
using eddy::SolveOptions;
using support::Array;
using support::rows;

/// y = (1 − p t / 2)² until it is zero; after that the root is NaN.
struct Draining {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * eddy::sqrt(y[0]));
    }
};
/// Finite states, but infinite where y is the number of the data.
struct Distance {
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& data) const {
        return p[0] / (y[0] - data[0]);
    }
};
const auto inverse = [](auto, const auto& y, const auto&) { return 1 / (y[0] - 1); };

constexpr std::ptrdiff_t num_lanes = 200;

/// Lanes that are empty at times from 0.98 to 1.01.
Array rates() {
    Array p(num_lanes, 1);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane)
        p(lane, 0) = 2 / (0.98 + 0.03 * static_cast<double>(lane) / num_lanes);
    return p;
}
const Array full(num_lanes, 1, 1.0);

template <class... Extras>
auto solve(const SolveOptions& options, const Extras&... extras) {
    return eddy::solve(Draining{}, eddy::Dopri8{}, full, rates(), options, extras...);
}
template <class... Extras>
auto differentiate(const std::vector<Array>& data, const SolveOptions& options,
                   const Extras&... extras) {
    return eddy::value_and_gradient(Draining{}, eddy::Dopri8{}, Distance{}, data, full, rates(),
                                    options, extras...);
}

/// Of a solution and of a gradient. Where a stage lies on the very zero of the root, as chance has it,
/// its derivative is infinite and the gradient alone fails.
template <class A, class B>
void check_same_endings(const A& a, const B& b) {
    int only_back = 0;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        INFO("lane " << lane);
        const bool fails_back =
            a.result(lane) == Result::success && b.result(lane) == Result::non_finite;
        only_back += fails_back;
        const bool same_by_name = a.result(lane) == Result::observed_not_finite &&
                                  b.result(lane) == Result::loss_not_finite;
        CHECK((fails_back || same_by_name || a.result(lane) == b.result(lane)));
        CHECK(a.failure(lane).t == b.failure(lane).t);
        CHECK(a.failure(lane).step == b.failure(lane).step);
        CHECK(a.failure(lane).component == b.failure(lane).component);
    }
    CHECK(only_back < 5);
}
/// Loss and gradient are numbers where the lane succeeded; else NaN, and zero.
template <class Result>
void check_numbers(const Result& result) {
    bool has_any = false;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        INFO("lane " << lane);
        const bool failed = is_failure(result.report.result(lane));
        CHECK(std::isfinite(result.loss(lane)) == !failed);
        CHECK(std::isfinite(result.gradient.y0(lane, 0)));
        CHECK((result.gradient.p(lane, 0) == 0) == failed);
        has_any = has_any || !failed;
    }
    CHECK(std::isfinite(result.loss.total_of_successful) == has_any);
}

}  // namespace

TEST_CASE("save points: one whose own stages are not finite ends its lane") {
    const SolveOptions options{.t1 = 1, .rtol = 1e-3, .save_at = {0.5, 0.97, 0.975, 1}};
    const auto solution = solve(options);
    SolveOptions along_these_steps = options;
    along_these_steps.stable_gradients = false;
    const auto result = differentiate(std::vector<Array>(4, rows({{-1}})), along_these_steps);

    check_same_endings(solution, result.report);
    check_numbers(result);
    int at_save = 0;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        const auto failure = solution.failure(lane);
        bool reached = true;  // up to some save point, and none after it
        for (int k = 0; k < 4; ++k) {
            const bool is_number = std::isfinite(solution.y(k)(lane, 0));
            CHECK((reached || !is_number));
            reached = is_number;
        }
        CHECK(reached == (failure.result == Result::success));
        if (failure.result != Result::non_finite || failure.t != 0.97) continue;
        ++at_save;
        CHECK(failure.component == 0);
        CHECK(failure.step > 0);
        CHECK(std::isfinite(solution.y(0)(lane, 0)));
        CHECK(std::isnan(solution.y(1)(lane, 0)));
    }
    CHECK(at_save > 0);
}

TEST_CASE("save points: what is observed, or a loss, that is not finite ends the lane") {
    const SolveOptions options{.t1 = 0.5, .save_at = {0, 0.25, 0.5}};
    const auto observed = solve(options, eddy::observe(inverse));  // infinite at the start
    const std::vector<Array> at_start{rows({{1}}), rows({{2}}), rows({{2}})};
    const auto result = differentiate(at_start, options);

    check_same_endings(observed, result.report);
    check_numbers(result);
    CHECK(observed.result(0) == Result::observed_not_finite);
    CHECK(observed.failure(0).save_point == 0);
    CHECK(observed.failure(0).t == 0);
    CHECK(observed.failure(0).component == -1);
    for (int k = 0; k < 3; ++k) CHECK(std::isnan(observed.y(k)(0, 0)));
    CHECK(eddy::pullback(observed, std::vector<Array>(3, rows({{1}}))).p(0, 0) == 0);

    const SolveOptions later{.t1 = 0.5, .save_at = {0.25, 0.5}};
    CHECK(solve(later, eddy::observe(inverse)).success());
    CHECK(solve(options).success());
    // Each term is a number, their sum is not.
    const auto near = rows({{1 + 1e-308}});
    CHECK(differentiate({near, near, near}, {.t1 = 1e-30, .save_at = {0, 0, 0}}).report.result(0) ==
          Result::loss_not_finite);
}

TEST_CASE("save points: a lane whose derivative is infinite fails on the way back, and alone") {
    Array y0 = full;
    y0(7, 0) = 0;  // and stays there: a number, but the slope of the root is infinite
    const SolveOptions options{.t1 = 0.5, .rtol = 1e-3};
    const std::vector<double> rate{1.0};
    const auto data = rows({{-1}});
    const auto solution = eddy::solve(Draining{}, eddy::Dopri8{}, y0, rates(), options);
    const auto own = eddy::value_and_gradient(Draining{}, eddy::Dopri8{}, Distance{}, data, y0,
                                              rates(), options);
    const auto shared = eddy::value_and_gradient(Draining{}, eddy::Dopri8{}, Distance{}, data, y0,
                                                 eddy::shared(rate), options);

    CHECK(solution.success());
    CHECK(own.report.result(7) == Result::non_finite);
    CHECK(own.report.failure(7).component == -1);
    CHECK(own.report.result(6) == Result::success);
    check_numbers(own);
    CHECK(shared.report.result(7) == Result::non_finite);
    CHECK(std::isfinite(shared.gradient.p(0, 0)));
    CHECK(shared.gradient.p(0, 0) != 0);
    // No report: the numbers as they are.
    CHECK(!std::isfinite(eddy::pullback(solution, Array(num_lanes, 1, 1.0)).y0(7, 0)));
}

TEST_CASE("save points: in a constant step that is not finite none is reached") {
    const SolveOptions options{
        .t1 = 1.5, .save_at = {0, 0.5, 0.99, 1.19, 1.2}, .save_steps = true, .dt0 = 0.2};
    const auto solution = solve(options, eddy::ConstantController{});

    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        INFO("lane " << lane);
        const auto failure = solution.failure(lane);
        CHECK(failure.result == Result::non_finite);
        CHECK(std::isfinite(solution.y(1)(lane, 0)));
        CHECK(std::isnan(solution.y(4)(lane, 0)));
        const std::ptrdiff_t last = solution.num_steps(lane) - 1;
        CHECK(last == solution.stats(lane).accepted);
        CHECK(std::isfinite(solution.step_y(lane, last, 0)));
    }
}

TEST_CASE("save points: max_steps is a limit where steps land as well") {
    SolveOptions options{.t1 = 0.5, .max_steps = 1};
    for (int k = 1; k < 1000; ++k) options.step_to.values.push_back(0.0005 * k);
    const auto solution = solve(options);
    options.max_steps = 999;
    const auto almost = solve(options);
    options.max_steps = 1000;
    const auto enough = solve(options);

    CHECK(solution.result(0) == Result::max_steps_reached);
    CHECK(solution.failure(0).step == 1);
    CHECK(solution.failure(0).t == 0.0005);
    CHECK(almost.result(0) == Result::max_steps_reached);
    CHECK(almost.failure(0).step == 999);
    CHECK(enough.success());
    CHECK(enough.stats(0).accepted == 1000);
}

TEST_CASE("save points: max_steps may be the largest number that there is") {
    const SolveOptions options{.t1 = 0.5, .max_steps = std::numeric_limits<std::int64_t>::max()};

    CHECK(solve(options).success());
    CHECK(differentiate({rows({{2}})}, options).report.success());
}
