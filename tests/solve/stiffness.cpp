// What stats and messages say of stiffness, and of linear algebra.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <eddy/solvers/rodas3.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <string>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"
#include "support/stiff_equations.hpp"

namespace {

using eddy::Result;
using support::Array;
using support::rows;

/// Turns on the unit circle, to which it is pulled back with λ = −2 p.
struct Pulled {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto pull = p[0] * (1.0 - y[0] * y[0] - y[1] * y[1]);  // to the unit circle
        return eddy::vec(y[1] + pull * y[0], pull * y[1] - y[0]);
    }
};

/// Nothing damps it: y₁ is 1/p of y₂, as units of position and speed may be.
struct Oscillator {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], -p[0] * p[0] * y[0]);
    }
};

struct Distance {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        return eddy::dot(y - data, y - data);
    }
};

/// Of Tsit5, stable up to 3.5, those beyond 1000 are limited by stability at rtol 1e-6; in between, the
/// error estimate of the fast component limits them first.
const Array strengths = rows({{0}, {1}, {3000}, {2000}, {0.1}, {5000}});
Array starts() { return rows({{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}}); }

}  // namespace

TEST_CASE("stats: steps that stability bounds are counted lane by lane, whatever the backend") {
    const eddy::SolveOptions options{.t1 = 10, .rtol = 1e-6};

    const auto solution = eddy::solve(Pulled{}, eddy::Tsit5{}, starts(), strengths, options);
    const auto oracle =
        eddy::solve(Pulled{}, eddy::Tsit5{}, starts(), strengths, options, eddy::Serial{});

    std::int64_t total = 0;
    for (std::ptrdiff_t lane = 0; lane < 6; ++lane) {
        INFO("lane " << lane);
        const eddy::LaneStats stats = solution.stats(lane);
        const bool is_stiff = strengths(lane, 0) > 1000;
        CHECK(stats.stiff_steps == oracle.stats(lane).stiff_steps);
        CHECK((2 * stats.stiff_steps > stats.accepted) == is_stiff);
        CHECK((stats.stiff_steps == 0) != is_stiff);
        CHECK(stats.stiff_steps <= stats.accepted);
        CHECK(stats.jacobians == 0);
        total += stats.stiff_steps;
    }
    CHECK(solution.total_stats().stiff_steps == total);
}

TEST_CASE("stats: oscillations are not stiff, whatever their units") {
    const Array y0 = rows({{1, 0}});

    for (const double rtol : {1e-2, 1e-3, 1e-4}) {
        for (const double frequency : {0.01, 1., 10., 100.}) {
            CAPTURE(rtol, frequency);
            const Array p = rows({{frequency}});
            const eddy::SolveOptions options{
                .t1 = 1e4 / frequency, .rtol = rtol, .atol = rtol, .max_steps = 100'000};

            const auto by_tsit5 =
                eddy::solve(Oscillator{}, eddy::Tsit5{}, y0, p, options, eddy::Serial{});
            const auto by_bosh3 =
                eddy::solve(Oscillator{}, eddy::Bosh3{}, y0, p, options, eddy::Serial{});

            CHECK(by_tsit5.stats(0).accepted > 10 * 256);
            CHECK(by_tsit5.stats(0).stiff_steps == 0);
            CHECK(by_bosh3.stats(0).stiff_steps == 0);
        }
    }
}

TEST_CASE("stats: what is smooth does not hide a stiff mode where tolerances are tight") {
    using support::Robertson;
    const Array y0 = rows({{1, 0, 0}}), p = rows({{0.04, 1e4, 3e7}});

    for (const double rtol : {1e-3, 1e-6, 1e-8}) {
        CAPTURE(rtol);
        const eddy::SolveOptions options{
            .t1 = 10, .rtol = rtol, .atol = 1e-4 * rtol, .max_steps = 40'000};
        const auto by_tsit5 =
            eddy::solve(Robertson{}, eddy::Tsit5{}, y0, p, options, eddy::Serial{});
        const auto by_bosh3 =
            eddy::solve(Robertson{}, eddy::Bosh3{}, y0, p, options, eddy::Serial{});

        for (const eddy::LaneStats& stats : {by_tsit5.stats(0), by_bosh3.stats(0)}) {
            CAPTURE(stats.accepted, stats.stiff_steps);
            CHECK(static_cast<double>(stats.stiff_steps) >
                  0.9 * static_cast<double>(stats.accepted));
        }
    }
}

TEST_CASE("stats: lanes that take each other's places are looked at as they are alone") {
    constexpr std::ptrdiff_t lanes = 200;
    Array y0(lanes, 2), p(lanes, 1);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        y0(lane, 0) = 0;
        y0(lane, 1) = 1;
        p(lane, 0) = lane % 3 == 0 ? 2000 + 10 * static_cast<double>(lane) : 0.01;
    }
    const eddy::SolveOptions options{.t1 = 2, .rtol = 1e-6};

    const auto solution = eddy::solve(Pulled{}, eddy::Tsit5{}, y0, p, options);
    const auto oracle = eddy::solve(Pulled{}, eddy::Tsit5{}, y0, p, options, eddy::Serial{});

    CHECK(oracle.total_stats().stiff_steps > 10'000);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        REQUIRE(solution.stats(lane).stiff_steps == oracle.stats(lane).stiff_steps);
}

TEST_CASE("stats: a lane that was too stiff for its steps is told to take another method") {
    const eddy::SolveOptions options{.t1 = 100, .rtol = 1e-6, .max_steps = 1000};
    const Array slow = rows({{0}, {3000}});
    const Array y0 = rows({{0, 1}, {0, 1}});

    const auto solution = eddy::solve(Pulled{}, eddy::Tsit5{}, y0, slow, options);
    const auto accurate = eddy::solve(Pulled{}, eddy::Tsit5{}, y0, slow,
                                      {.t1 = 1e4, .rtol = 1e-6, .max_steps = 1000});

    CHECK(solution.result(0) == Result::success);
    CHECK(solution.message(0) == std::string("success"));
    CHECK(solution.result(1) == Result::max_steps_reached);
    CHECK(solution.message(1) ==
          std::string("max_steps reached before the end: stability, not accuracy, kept most steps "
                      "small: use a stiff method, such as Rodas5P"));
    CHECK(support::message_of([&] { require_success(solution); }).find("such as Rodas5P") !=
          std::string::npos);
    CHECK(accurate.result(0) == Result::max_steps_reached);  // but not for stiffness
    CHECK(accurate.message(0) == std::string(message(Result::max_steps_reached)));
}

TEST_CASE("stats: stiff methods say what they took of Jacobians and factorisations") {
    const eddy::SolveOptions options{.t1 = 10, .rtol = 1e-3};
    const Array data = rows({{0, 1}});

    const auto solution = eddy::solve(Pulled{}, eddy::Rodas3{}, starts(), strengths, options);
    const auto gradient = eddy::value_and_gradient(Pulled{}, eddy::Rodas3{}, Distance{}, data,
                                                   starts(), strengths, options);

    REQUIRE(solution.success());
    for (std::ptrdiff_t lane = 0; lane < 6; ++lane) {
        const eddy::LaneStats stats = solution.stats(lane);
        CHECK(stats.jacobians == stats.accepted + stats.rejected);
        CHECK(stats.factorizations == stats.jacobians);
        CHECK(stats.stiff_steps == 0);
        CHECK(gradient.report.stats(lane).jacobians == stats.jacobians);
    }
    CHECK(solution.total_stats().factorizations > 6 * 10);
}
