// A gradient that is cancelled ends at once, forward or on the way back: lanes whose gradient was
// handed out keep it, the others are cancelled and have none. Cancelled by a controller that counts
// its calls, so that the moment is always the same; what is left to do is counted as well.

#include <cmath>
#include <cstdint>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <limits>
#include <stop_token>
#include <vector>

#include "solve/problems.hpp"
#include "support/alarm.hpp"
#include "support/catch.hpp"

namespace {

using eddy::Result;
using support::Array;

template <int num_parameters>
struct Decay {
    static constexpr int state_size = 1, parameter_size = num_parameters;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-eddy::sum(p) * y[0]);
    }
};
/// Depends on the parameters as well: their gradient begins before a lane's is complete.
struct Weighted {
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& data) const {
        return (y[0] - data[0]) * p[0];
    }
};

using Alarm = support::Alarm<eddy::PIDController>;

constexpr std::ptrdiff_t num_lanes = 100;
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
const Array y0(num_lanes, 1, 1.0);

/// Lanes of `Serial`, by the steps that it keeps.
auto differentiate_serially(std::int64_t calls) {
    Alarm::source = std::stop_source{};
    Alarm::left = calls;
    return eddy::value_and_gradient(
        Decay<1>{}, eddy::Bosh3{}, Weighted{}, std::vector<Array>(2, support::rows({{0.5}})), y0,
        Array(num_lanes, 1, 0.5),
        {.t1 = 5, .save_at = {2.5, 5}, .cancelled = Alarm::source.get_token()}, Alarm{},
        eddy::Serial{});
}
/// One group, in rounds of as many lanes as it has slots; all states but the first are computed
/// again, with their attempts.
template <int num_parameters, class Parameters>
auto differentiate(const Parameters& p, std::int64_t calls) {
    Alarm::source = std::stop_source{};
    Alarm::left = calls;
    return eddy::value_and_gradient(
        Decay<num_parameters>{}, eddy::Bosh3{}, Weighted{},
        std::vector<Array>(2, support::rows({{0.5}})), y0, p,
        {.t1 = 5, .save_at = {2.5, 5}, .memory_budget = 1, .cancelled = Alarm::source.get_token()},
        Alarm{}, eddy::Cpu{.threads = 1});
}
/// The calls that a gradient makes.
template <int num_parameters, class Parameters>
std::int64_t calls_of(const Parameters& p) {
    static_cast<void>(differentiate<num_parameters>(p, never));
    return never - Alarm::left;
}

/// The lanes that have a gradient, the first ones; what the others should have is checked.
template <class Result>
std::ptrdiff_t num_complete(const Result& result) {
    std::ptrdiff_t complete = 0;
    while (complete < num_lanes && result.report.result(complete) == eddy::Result::success)
        ++complete;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        const bool has_gradient = lane < complete;
        CHECK(result.report.result(lane) ==
              (has_gradient ? eddy::Result::success : eddy::Result::cancelled));
        CHECK(std::isfinite(result.loss(lane)) == has_gradient);
        CHECK((result.gradient.y0(lane, 0) != 0) == has_gradient);
    }
    return complete;
}

}  // namespace

TEST_CASE("cancelled: each lane has its whole gradient or none, whenever that is") {
    const Array p(num_lanes, 1, 0.5);
    const auto whole = differentiate<1>(p, never);
    const std::int64_t calls = calls_of<1>(p);
    const std::int64_t steps = whole.report.total_stats().accepted / num_lanes;
    REQUIRE(whole.report.success());
    REQUIRE(whole.report.counters.recomputed > steps * steps / 2);

    std::ptrdiff_t fewest = num_lanes, most = 0;
    for (const double part : {0.001, 0.2, 0.4, 0.6, 0.8, 0.999}) {
        const auto at = static_cast<std::int64_t>(part * static_cast<double>(calls));
        const auto result = differentiate<1>(p, at);
        CAPTURE(part, at);
        // At most the row that it happened in, or a lane's patience forward, is finished.
        CHECK(Alarm::left > -3 * 300);
        const std::ptrdiff_t complete = num_complete(result);
        for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
            if (lane < complete)
                CHECK(support::same_row(result.gradient.p, lane, whole.gradient.p, lane));
            else
                CHECK(result.gradient.p(lane, 0) == 0);
        }
        CHECK(result.report.counters.pullbacks < whole.report.counters.pullbacks);
        fewest = std::min(fewest, complete);
        most = std::max(most, complete);
    }
    CHECK(fewest == 0);
    CHECK(most > 0);
}

TEST_CASE("cancelled: on the way forward, nothing goes back") {
    const auto result = differentiate<1>(Array(num_lanes, 1, 0.5), 10);

    CHECK(num_complete(result) == 0);
    CHECK(result.report.counters.pullbacks == 0);
    CHECK(result.report.counters.recomputed == 0);
}

TEST_CASE("cancelled: a call whose token is stopped already takes no step, however short") {
    std::stop_source stopped;
    stopped.request_stop();

    const auto solution =
        eddy::solve(Decay<1>{}, eddy::Bosh3{}, Array(num_lanes, 1, 1.0), Array(num_lanes, 1, 0.5),
                    {.t1 = 0.1, .cancelled = stopped.get_token()}, eddy::Cpu{.threads = 1});

    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        CHECK(solution.result(lane) == Result::cancelled);
        CHECK(solution.failure(lane).t == 0);
        CHECK(std::isnan(solution.y()(lane, 0)));
    }
    CHECK(solution.total_stats().evaluations == 0);
}

TEST_CASE("cancelled: Serial ends the lane that it is at, and begins no other") {
    const auto whole = differentiate_serially(never);
    const std::int64_t calls = never - Alarm::left;
    REQUIRE(whole.report.success());
    REQUIRE(calls % num_lanes == 0);  // all lanes are the same

    const auto result = differentiate_serially(calls / 2 + 3);

    CHECK(num_complete(result) == num_lanes / 2);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        const std::int64_t attempts = result.report.failure(lane).step;
        CHECK(attempts == (lane < num_lanes / 2    ? calls / num_lanes
                           : lane == num_lanes / 2 ? 3
                                                   : 0));
        if (lane < num_lanes / 2)
            CHECK(support::same_row(result.gradient.p, lane, whole.gradient.p, lane));
        else
            CHECK(result.gradient.p(lane, 0) == 0);
    }
}

TEST_CASE("cancelled: a gradient of shared parameters is that of the lanes that have one") {
    const std::vector<double> values{0.5};
    const auto p = eddy::shared(values);
    const std::int64_t calls = calls_of<1>(p);
    const auto whole = differentiate<1>(p, never);
    const auto result = differentiate<1>(p, calls / 2);
    const std::ptrdiff_t complete = num_complete(result);

    CHECK(complete > 0);
    CHECK(complete < num_lanes);
    // All lanes are the same.
    const double of_one = whole.gradient.p(0, 0) / static_cast<double>(num_lanes);
    CHECK(std::fabs(result.gradient.p(0, 0) - of_one * static_cast<double>(complete)) <
          1e-12 * std::fabs(of_one));
}

TEST_CASE("cancelled: of many shared parameters a group has its whole part or none") {
    const std::vector<double> values(65, 0.5 / 65);
    const auto p = eddy::shared(values);
    const auto whole = differentiate<65>(p, never);
    const auto result = differentiate<65>(p, calls_of<65>(p) / 2);
    const std::ptrdiff_t complete = num_complete(result);

    CHECK(complete < num_lanes);
    CHECK(result.report.counters.pullbacks > 0);
    for (int i = 0; i < 65; ++i) {
        const double of_one = whole.gradient.p(0, i) / static_cast<double>(num_lanes);
        CHECK(std::fabs(result.gradient.p(0, i) - of_one * static_cast<double>(complete)) <
              1e-12 * std::fabs(of_one));
    }
}
