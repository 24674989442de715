// Events: when they are, what lanes are after them, and what becomes of those that end there; of falling
// balls and of waves, whose events are known.

#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <numbers>
#include <string>

#include "solve/event_fields.hpp"
#include "support/catch.hpp"

namespace {

using eddy::Crossing;
using eddy::Result;
using eddy::SolveOptions;
using events::Array;
using events::Ball;
using events::Drop;
using events::Flight;
using events::relative;
using events::rows;

constexpr double pi = std::numbers::pi;

const Array thrown = rows({{1, 0.5}, {1.3, -0.2}, {0.7, 2}, {0, 1}, {2, 0}});
const Array balls = rows({{9.81, 0.8}, {9.81, 0.75}, {3.7, 0.9}, {1.6, 0.7}, {9.81, 0.95}});

template <class Method, class... Extras>
void check_balls(const Method& method, double tolerance, SolveOptions options,
                 const Extras&... extras) {
    const auto solution = eddy::solve(Ball{}, method, thrown, balls, options, extras...);
    require_success(solution);
    for (std::ptrdiff_t lane = 0; lane < thrown.rows(); ++lane) {
        CAPTURE(lane);
        int bounces = 0;
        for (std::ptrdiff_t k = 0; k < solution.num_saves(); ++k) {
            const Flight<double> wanted(thrown(lane, 0), thrown(lane, 1), balls(lane, 0),
                                        balls(lane, 1), solution.t(k));
            CHECK(relative(solution.y(k)(lane, 0), wanted.y) <= tolerance);
            CHECK(relative(solution.y(k)(lane, 1), wanted.v) <= tolerance);
            if (solution.t(k) != options.t1) continue;
            bounces = wanted.bounces;
            CHECK(relative(solution.event_t(lane), wanted.last) <= tolerance);
        }
        CHECK(solution.stats(lane).events == bounces);
    }
    CHECK(solution.total_stats().events > 10);
}

SolveOptions until(double t1) { return {.t1 = t1, .rtol = 1e-9, .atol = 1e-11}; }

}  // namespace

// By every kind of method: event_gradients.cpp.
TEST_CASE("events: a bouncing ball is where it should be") {
    SolveOptions options = until(2.2);
    options.save_at = {0.1, 0.8, 1.5, 1.50001, 2.2};
    check_balls(eddy::Tsit5{}, 1e-10, options);
    check_balls(eddy::Tsit5{}, 1e-10, options, eddy::Serial{});
    options.rtol = 0.1;
    options.atol = 0.1;
    check_balls(eddy::Tsit5{}, 1e-10, options);
}

TEST_CASE("events: so is it far from t = 0, backward, and with stops and jump times at events") {
    SolveOptions options = until(2);
    const double first = Flight<double>(1, 0.5, 9.81, 0.8, 2).last;
    for (const double t0 : {0., 1e9, -1e9}) {
        for (const double direction : {1., -1.}) {
            CAPTURE(t0, direction);
            options.t0 = t0;
            options.t1 = t0 + 2 * direction;
            options.step_to = {t0 + 0.3 * direction};
            options.jump_times = {t0 + first * direction};
            const Array y0 = rows({{1, 0.5 * direction}}), p = rows({{9.81, 0.8}});
            const auto solution = eddy::solve(Ball{}, eddy::Tsit5{}, y0, p, options);

            const Flight<double> wanted(1, 0.5, 9.81, 0.8, 2);
            const double resolved = 1e-11 + 1e-14 * std::fabs(t0);
            CHECK(solution.result(0) == Result::success);
            CHECK(solution.stats(0).events == wanted.bounces);
            CHECK(std::fabs(solution.y()(0, 0) - wanted.y) <= resolved);
            CHECK(std::fabs(direction * solution.y()(0, 1) - wanted.v) <= resolved);
            CHECK(std::fabs((solution.event_t(0) - t0) * direction - wanted.last) <= resolved);
        }
    }
}

TEST_CASE("events: a lane that has nothing to do after one ends there, others go on") {
    const Array y0 = rows({{1, 0}, {1, 100}, {2, 0}, {1, -1}}),
                p = rows({{2, 0}, {2, 0}, {4, 0}, {0, 0}});
    for (const bool on_serial : {true, false}) {
        SolveOptions options = until(3);
        const auto solve = [&](const auto& field) {
            return on_serial
                       ? eddy::Solution<double>(
                             eddy::solve(field, eddy::Tsit5{}, y0, p, options, eddy::Serial{}))
                       : eddy::Solution<double>(eddy::solve(field, eddy::Tsit5{}, y0, p, options));
        };
        const auto solution = solve(Drop{});

        for (const std::ptrdiff_t lane : {0, 2, 3}) {
            CAPTURE(lane);
            CHECK(solution.result(lane) == Result::event);
            CHECK(std::fabs(solution.event_t(lane) - 1) <= 1e-14);
            CHECK(solution.event_t(lane) == solution.failure(lane).t);
            CHECK(std::fabs(solution.y()(lane, 0)) <= 1e-14);
            CHECK(solution.stats(lane).events == 1);
        }
        CHECK(std::fabs(solution.y()(2, 1) + 4) <= 1e-13);
        CHECK(solution.result(1) == Result::success);
        CHECK(solution.stats(1).events == 0);
        CHECK(std::isnan(solution.event_t(1)));
        CHECK(std::fabs(solution.y()(1, 0) - 292) <= 1e-9);
        CHECK(solution.success());
        CHECK_NOTHROW(require_success(solution));
    }
}

TEST_CASE(
    "events: save points that a lane does not reach hold nothing, those before it the state") {
    SolveOptions options = until(3);
    options.save_at = {0, 0.5, 0.999, 1.001, 3};
    options.save_steps = true;
    const auto solution =
        eddy::solve(Drop{}, eddy::Tsit5{}, rows({{1, 0}}), rows({{2, 0}}), options);

    CHECK(solution.result(0) == Result::event);
    for (std::ptrdiff_t k = 0; k < 3; ++k) {
        const double t = solution.t(k);
        CHECK(std::fabs(solution.y(k)(0, 0) - (1 - t * t)) <= 1e-13);
    }
    CHECK(std::isnan(solution.y(3)(0, 0)));
    CHECK(std::isnan(solution.y(4)(0, 1)));
    const std::ptrdiff_t last = solution.num_steps(0) - 1;
    CHECK(last == solution.stats(0).accepted);
    CHECK(solution.step_t(0, last) == solution.event_t(0));
    CHECK(std::fabs(solution.step_y(0, last, 1) + 2) <= 1e-13);
}

namespace {

/// sin and cos of t, and functions that are told apart by p[0]: crossings of either direction, or of one, that
/// are counted and change nothing; a function that is no number where sin is below 1/2; one that stays zero;
/// two at once.
struct Wave {
    static constexpr int state_size = 2, parameter_size = 1;
    static constexpr auto when(const auto& p, double kind, const auto& g) {
        const auto one = 1 + 0 * p[0];
        return eddy::select(p[0] > kind - 0.5, eddy::select(p[0] < kind + 0.5, g, one), one);
    }
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        return eddy::vec(y[1], -y[0]);
    }
    constexpr auto event(auto, const auto& y, const auto& p) const {
        return eddy::vec(
            when(p, 0, y[0]), when(p, 1, y[0]), when(p, 2, y[0]) * when(p, 5, y[0]),
            when(p, 3, eddy::sqrt(y[0] - 0.5) + 1) * when(p, 4, 0 * y[0]) * when(p, 5, y[1]));
    }
    static constexpr Crossing event_direction[] = {Crossing::either, Crossing::falling,
                                                   Crossing::rising, Crossing::either};
    static constexpr bool event_terminal = false;
};
enum Kind : int { either, falling, rising, rooted, resting, counted };
Array kinds(std::initializer_list<Kind> lanes) {
    Array p(static_cast<std::ptrdiff_t>(lanes.size()), 1);
    std::ptrdiff_t lane = 0;
    for (const Kind kind : lanes) p(lane++, 0) = kind;
    return p;
}

}  // namespace

TEST_CASE("events: crossings of either direction count, or those of one, as the solve meets them") {
    const auto count = [&](Kind kind, double t1, std::ptrdiff_t lane) {
        const Array y0 = rows({{std::sin(0.5), std::cos(0.5)}, {0, 1}, {0, -1}});
        const auto solution =
            eddy::solve(Wave{}, eddy::Tsit5{}, y0, kinds({kind, kind, kind}), until(t1));
        require_success(solution);
        return solution.stats(lane).events;
    };
    // From t = 0.5 on; and from a zero, which is none.
    CHECK(count(either, 20, 0) == 6);
    CHECK(count(falling, 20, 0) == 3);
    CHECK(count(rising, 20, 0) == 3);
    CHECK(count(falling, 4, 1) == 1);
    CHECK(count(rising, 4, 1) == 0);
    CHECK(count(rising, 4, 2) == 1);
    CHECK(count(either, 4, 2) == 1);
    // Backward the wave falls where it rises forward; from a zero too, which is none there either.
    CHECK(count(falling, -1, 0) == 1);
    CHECK(count(rising, -1, 0) == 0);
    for (const std::ptrdiff_t lane : {1, 2}) {
        CHECK(count(either, -4, lane) == 1);
        CHECK(count(falling, -4, lane) == (lane == 1 ? 0 : 1));
        CHECK(count(rising, -4, lane) == (lane == 1 ? 1 : 0));
    }
}

TEST_CASE("events: a thousand of them, each at its time") {
    const SolveOptions options{
        .t1 = 1000.5 * pi, .rtol = 1e-10, .atol = 1e-12, .max_steps = 1'000'000};
    const auto solution =
        eddy::solve(Wave{}, eddy::Tsit5{}, rows({{0, 1}}), kinds({either}), options);

    CHECK(solution.result(0) == Result::success);
    CHECK(solution.stats(0).events == 1000);
    CHECK(std::fabs(solution.event_t(0) - 1000 * pi) <= 1e-6);
}

TEST_CASE("events: of several those without a jump are counted, each in its direction") {
    const Array y0 = rows({{std::sin(0.5), std::cos(0.5)}, {0, 1}});
    const auto solution =
        eddy::solve(Wave{}, eddy::Tsit5{}, y0, kinds({counted, counted}), until(20));
    require_success(solution);
    // From t = 0.5 sin rises at 2π, 4π, 6π; cos is zero at π/2, …, 13π/2. From 0 that one is none.
    CHECK(solution.stats(0).events == 3 + 7);
    CHECK(solution.stats(1).events == 3 + 6);
    CHECK(solution.event_index(0) == 3);
    CHECK(std::fabs(solution.y()(0, 0) - std::sin(20.5)) <= 1e-7);
}

TEST_CASE("events: where their function is no number the lane fails, alone") {
    const Array y0 = rows({{1, 0}, {10, 0}, {0.2, 0}, {20, 0}, {1, 0}}),
                p = kinds({rooted, rooted, rooted, rooted, resting});
    SolveOptions options = until(1.2);
    options.dt_max = 0.1;
    const auto check = [&](const auto& solution) {
        for (const std::ptrdiff_t lane : {0, 2}) {
            CHECK(solution.result(lane) == Result::non_finite);
            CHECK(solution.failure(lane).component == -1);
            CHECK(solution.stats(lane).events == 0);
            CHECK(std::isnan(solution.y()(lane, 0)));
        }
        CHECK(solution.result(1) == Result::success);
        CHECK(std::fabs(solution.y()(3, 0) - 20 * std::cos(1.2)) <= 1e-7);
        // A function that stays zero has no events.
        CHECK(solution.result(4) == Result::success);
        CHECK(solution.stats(4).events == 0);
        CHECK(solution.failure(0).t <= pi / 3 + 0.1 + 1e-12);
        return solution.failure(0).t;
    };
    CHECK(check(eddy::solve(Wave{}, eddy::Tsit5{}, y0, p, options, eddy::Serial{})) ==
          check(eddy::solve(Wave{}, eddy::Tsit5{}, y0, p, options)));
}

TEST_CASE("events: one at the end, and at a save point, is one") {
    const double hit = 1;
    SolveOptions options = until(hit);
    const Array y0 = rows({{1, 0}}), p = rows({{2, 0.5}});
    const auto ended = eddy::solve(Drop{}, eddy::Tsit5{}, y0, p, options);
    CHECK((ended.result(0) == Result::event || ended.result(0) == Result::success));
    CHECK(std::fabs(ended.y()(0, 0)) <= 1e-14);

    // A save point has the state after the jump, where the jump is at its time. A stop there makes other steps, whose
    // rounding puts the jump before it or behind; but never at its time.
    options.t1 = 1.25;
    const double when = eddy::solve(Ball{}, eddy::Tsit5{}, y0, p, options).event_t(0);
    options.save_at = {when, 1.25};
    for (const bool stops : {false, true}) {
        if (stops) options.step_to = {when};
        const auto check = [&](const auto& bounced) {
            const bool is_before = bounced.event_t(0) < when;
            CHECK((is_before || (stops && bounced.event_t(0) > when)));
            CHECK(std::fabs(bounced.y(0)(0, 0)) <= 1e-13);
            CHECK(std::fabs(bounced.y(0)(0, 1) - (is_before ? 1 : -2)) <= 1e-13);
            CHECK(std::fabs(bounced.event_t(0) - hit) <= 4e-15);
            CHECK(bounced.stats(0).events == 1);
        };
        check(eddy::solve(Ball{}, eddy::Tsit5{}, y0, p, options));
        check(eddy::solve(Ball{}, eddy::Tsit5{}, y0, p, options, eddy::Serial{}));
    }
}

TEST_CASE("events: a stop or save point within rounding of one makes no other of it") {
    SolveOptions options = until(1.01);
    for (int k = -9; k <= 9; ++k) {
        const auto at = [&](double t) { return t * (1 + k * 0x1p-52); };
        const auto check = [&](const auto& backend) {
            options.t1 = 1.01;
            options.save_at = options.step_to = {at(1)};
            const auto ball = eddy::solve(Ball{}, eddy::Tsit5{}, rows({{1, 0}}), rows({{2, 0.01}}),
                                          options, backend);
            CHECK(ball.stats(0).events == 1);
            CHECK(std::fabs(ball.y()(0, 0)) <= 1e-13);
            options.t1 = 4;
            options.save_at = options.step_to = {at(pi)};
            const auto wave = eddy::solve(Wave{}, eddy::Tsit5{}, rows({{0, 1}}), kinds({either}),
                                          options, backend);
            CHECK(wave.stats(0).events == 1);
        };
        CAPTURE(k);
        check(eddy::Serial{});
        check(eddy::Cpu{});
    }
}

TEST_CASE("events: bounces without end use up the steps") {
    SolveOptions options = until(10);
    options.max_steps = 3000;
    const auto solution =
        eddy::solve(Ball{}, eddy::Tsit5{}, rows({{1, 0}}), rows({{9.81, 0.5}}), options);

    CHECK(solution.result(0) == Result::max_steps_reached);
    CHECK(solution.stats(0).events > 40);
    CHECK(std::string(solution.message(0)).find("most steps ended at events") != std::string::npos);
    const double limit = std::sqrt(2 / 9.81) * 3;  // Σ of the flights
    CHECK(std::fabs(solution.event_t(0) - limit) <= 1e-9);
}

TEST_CASE("events: in single precision they are where that can tell") {
    const auto y0 = rows<float>({{1, 0.5}, {1.3, -0.2}}),
               p = rows<float>({{9.81, 0.8}, {9.81, 0.5}});
    const auto solution =
        eddy::solve(Ball{}, eddy::Tsit5{}, y0, p, {.t1 = 1.1, .rtol = 1e-5, .atol = 1e-6});
    require_success(solution);
    for (std::ptrdiff_t lane = 0; lane < 2; ++lane) {
        const Flight<double> wanted(y0(lane, 0), y0(lane, 1), p(lane, 0), p(lane, 1), 1.1);
        CHECK(solution.stats(lane).events == wanted.bounces);
        CHECK(std::fabs(solution.event_t(lane) - wanted.last) <= 2e-5);
        CHECK(std::fabs(static_cast<double>(solution.y()(lane, 0)) - wanted.y) <= 1e-4);
    }
}

TEST_CASE("events: a second call of a solver begins without any") {
    auto solver = eddy::ensemble_solver(Drop{}, eddy::Tsit5{}, until(1.5));
    const Array p = rows({{2, 0}});
    CHECK(solver(rows({{1, 0}}), p).stats(0).events == 1);
    const auto& second = solver(rows({{1, 100}}), p);
    CHECK(second.stats(0).events == 0);
    CHECK(std::isnan(second.event_t(0)));
}
