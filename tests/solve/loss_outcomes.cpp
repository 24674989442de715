// A loss that is not finite is told as such, with its save point, time and state; and no sum of losses takes
// failing for progress.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/backends/tiles.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <vector>

#include "solve/emulated_device.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using eddy::Result;
using support::Array;
using support::EmulatedDevice;

/// The second component falls through zero at y1 = 2 t.
struct Falling {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0], -2.);
    }
};
/// The same, and lanes end where the first component is 1/4.
struct FallingToEvent : Falling {
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0] - 0.25; }
    static constexpr bool event_terminal = true;
};
struct LogSquares {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& d) const {
        const auto off = eddy::log(y[1]) - d[1];
        return off * off + 0. * d[0];
    }
};
const auto logarithm = [](auto, const auto& y, const auto&) { return eddy::log(y[1]); };

const eddy::SolveOptions options{.t1 = 2, .save_at = {0.25, 0.75, 1.5}};
constexpr std::ptrdiff_t num_lanes = 70;

/// Lane 3 is below zero at the second save point, lane 5 at the third.
Array starts() {
    Array y0(num_lanes, 2, 1.);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) y0(lane, 1) = 10;
    y0(3, 1) = 1;
    y0(5, 1) = 2;
    return y0;
}
const std::vector<Array> data(3, Array(1, 2, 0.5));
const Array rate(1, 1, 0.7);

template <class Field = Falling, class Backend>
auto differentiate(const Backend& backend, const Array& y0,
                   const eddy::SolveOptions& asked = options) {
    return eddy::value_and_gradient(
        Field{}, eddy::Tsit5{}, LogSquares{},
        std::vector<Array>(asked.save_at.values.empty() ? 1 : 3, data[0]), y0, eddy::shared(rate),
        asked, backend);
}
Array without_failing() {
    Array y0 = starts();
    y0(3, 1) = y0(5, 1) = 10;
    return y0;
}

template <class Backend>
void check_lost(const Backend& backend, bool is_host) {
    const auto result = differentiate(backend, starts());
    const auto of_3 = result.report.failure(3), of_5 = result.report.failure(5);

    CHECK(of_3.result == Result::loss_not_finite);
    CHECK(of_3.save_point == 1);
    CHECK(of_3.t == 0.75);
    CHECK(of_3.component == -1);
    CHECK(of_5.result == Result::loss_not_finite);
    CHECK(of_5.save_point == 2);
    CHECK(of_5.t == 1.5);
    CHECK(result.report.failure(4).result == Result::success);
    CHECK(result.report.failure(4).save_point == -1);
    CHECK(std::isnan(result.loss(3)));
    CHECK(result.gradient.y0(3, 1) == 0);
    CHECK(support::mentions(result.report.message(3), "the loss became infinite or NaN"));
    CHECK_FALSE(support::mentions(result.report.message(3), "vector field"));
    REQUIRE(of_3.y.size() == (is_host ? 2 : 0));
    if (!is_host) return;
    CHECK(of_3.y[0] == Approx(std::exp(-0.7 * 0.75)));
    CHECK(of_3.y[1] == Approx(-0.5));
    CHECK(of_5.y[1] == Approx(-1.));
}

template <class Backend>
void check_totals(const Backend& backend) {
    const auto clean = differentiate(backend, without_failing());
    const auto result = differentiate(backend, starts());

    REQUIRE(clean.report.success());
    CHECK(clean.loss.total > 0);
    CHECK(support::same_bits(clean.loss.total_of_successful, clean.loss.total));
    CHECK(clean.loss.mean == clean.loss.total / num_lanes);
    CHECK(clean.loss.mean_of_successful == clean.loss.mean);
    CHECK(clean.loss.num_successful == num_lanes);

    CHECK(std::isnan(result.loss.total));
    CHECK(std::isnan(result.loss.mean));
    CHECK(result.loss.num_successful == num_lanes - 2);
    double sum = 0;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane)
        sum += std::isnan(result.loss(lane)) ? 0 : result.loss(lane);
    CHECK(result.loss.total_of_successful == Approx(sum).epsilon(1e-13));
    CHECK(result.loss.mean_of_successful == result.loss.total_of_successful / (num_lanes - 2));
    CHECK(result.loss.total_of_successful < clean.loss.total);

    const auto none = differentiate(backend, Array(3, 2, 0.25));
    CHECK(none.loss.num_successful == 0);
    CHECK(std::isnan(none.loss.total_of_successful));
    CHECK(std::isnan(none.loss.mean_of_successful));
    CHECK(std::isnan(none.loss.total));

    CHECK(differentiate(backend, Array(0, 2)).loss.total == 0);
}

}  // namespace

TEST_CASE("loss: one that is not finite has a result, a save point, a time and a state") {
    check_lost(eddy::Serial{}, true);
    check_lost(eddy::Cpu{.threads = 2}, true);
    check_lost(eddy::Tiles{.threads = 2}, true);
    check_lost(EmulatedDevice{}, false);
}

TEST_CASE("loss: totals and means are NaN unless all succeed") {
    check_totals(eddy::Serial{});
    check_totals(eddy::Cpu{});
    check_totals(eddy::Tiles{});
    check_totals(EmulatedDevice{});
}

TEST_CASE("loss: of many that are lost the first 64 states are known, whatever the threads") {
    const auto result = differentiate(eddy::Cpu{.threads = 2}, Array(300, 2, 0.25));

    for (std::ptrdiff_t lane = 0; lane < 300; ++lane) {
        const auto failure = result.report.failure(lane);
        CHECK(failure.result == Result::loss_not_finite);
        CHECK(failure.y.size() == (lane < 64 ? 2 : 0));
    }
}

TEST_CASE("loss: at an event that ends the lane, in the oracle as in the loop") {
    const eddy::SolveOptions to_event{.t1 = 20};
    Array y0(2, 2, 1.);
    y0(1, 1) = 100;
    for (const auto& report : {differentiate<FallingToEvent>(eddy::Serial{}, y0, to_event).report,
                               differentiate<FallingToEvent>(eddy::Cpu{}, y0, to_event).report}) {
        CHECK(report.failure(0).result == Result::loss_not_finite);
        CHECK(report.failure(0).save_point == 0);
        CHECK(report.failure(0).t == Approx(std::log(4.) / 0.7));
        REQUIRE(report.failure(0).y.size() == 2);
        CHECK(report.failure(0).y[0] == Approx(0.25).epsilon(1e-6));
        CHECK(report.result(1) == Result::event);
    }
}

TEST_CASE(
    "loss: a sum that overflows is lost as well, and what observe makes has a result of its own") {
    Array y0 = starts();
    const auto solve = [&](const auto& backend) {
        return eddy::solve(Falling{}, eddy::Tsit5{}, y0, eddy::shared(rate), options, backend,
                           eddy::observe(logarithm));
    };
    const auto check = [](const auto& solution) {
        const auto failure = solution.failure(3);
        CHECK(failure.result == Result::observed_not_finite);
        CHECK(failure.save_point == 1);
        CHECK(failure.t == 0.75);
        CHECK(failure.component == -1);
        CHECK(support::mentions(solution.message(3), "observe(function)"));
    };
    check(solve(eddy::Serial{}));
    check(solve(eddy::Cpu{}));
    check(solve(eddy::Tiles{}));
    check(solve(EmulatedDevice{}));
}

TEST_CASE("require_success: throws SolveFailed with the save point and the state") {
    const auto result = differentiate(eddy::Cpu{}, starts());

    CHECK_THROWS_AS(eddy::require_success(result.report), eddy::SolveFailed);
    const std::string message = support::message_of([&] { eddy::require_success(result.report); });
    CHECK(support::mentions(message, "2 of 70 trajectories failed\n  trajectory 3 at t = 0.75, "));
    CHECK(support::mentions(message, ", save point 1, y = (0.59"));
    CHECK(support::mentions(message, "the loss became infinite or NaN at a save point"));
}
