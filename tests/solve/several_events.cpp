// Several event functions of one field: the earliest root wins, ties go to the lowest number, and each event
// says what follows it. Balls in a box, whose walls are met at known times.

#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "solve/event_fields.hpp"
#include "support/catch.hpp"

namespace {

using eddy::Crossing;
using eddy::Result;
using eddy::SolveOptions;
using events::Array;
using events::by_steps_of;
using events::Flight;
using events::relative;
using events::rows;

/// A ball between two walls, x = 0 and x = p[2], above a floor: y = (x, height, their speeds), p = (gravity,
/// restitution of the floor, place of the wall, restitution of the walls, place of another, which ends the lane).
struct Boxed {
    static constexpr int state_size = 4, parameter_size = 5;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[2], y[3], 0 * y[0], 0 * y[0] - p[0]);
    }
    constexpr auto event(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], 3 * y[0], p[2] - y[0], p[4] - y[0]);
    }
    static constexpr auto event_direction = Crossing::falling;
    static constexpr bool event_terminal[] = {false, false, false, true};
    constexpr auto at_event(auto, const auto& y, const auto& p, auto index) const {
        if constexpr (index == 0)
            return eddy::vec(y[0], 0 * y[1], y[2], -p[1] * y[3]);
        else
            return eddy::vec(y[0], y[1], -p[3] * y[2], y[3]);
    }
};

/// x of the ball at t, with the number of walls that it has met, by unit speeds between 0 and `width`.
struct Walk {
    double x, v, last = 0;
    int walls = 0;

    Walk(double from, double speed, double width, double restitution, double end)
        : x(from), v(speed) {
        for (;;) {
            const double time = v > 0 ? (width - x) / v : -x / v;
            if (!(last + time <= end)) break;
            last += time;
            x = v > 0 ? width : 0;
            v = -restitution * v;
            ++walls;
        }
        x += v * (end - last);
    }
};

SolveOptions until(double t1) { return {.t1 = t1, .rtol = 1e-9, .atol = 1e-11}; }
const Array starts = rows({{0.5, 1, 2, 0.5}, {0.25, 1.3, -1.7, -0.2}, {1, 0.7, 0.9, 2}}),
            boxes =
                rows({{9.81, 0.8, 1.5, 0.9, 9}, {9.81, 0.75, 1, 1, 9}, {3.7, 0.9, 1.2, 0.7, 9}});

template <class... Extras>
void check_boxes(SolveOptions options, const Extras&... extras) {
    options.save_at = {0.3, 1.1, 2};
    const auto solution = eddy::solve(Boxed{}, eddy::Tsit5{}, starts, boxes, options, extras...);
    require_success(solution);
    for (std::ptrdiff_t lane = 0; lane < starts.rows(); ++lane) {
        CAPTURE(lane);
        const auto walk = [&](double t) {
            return Walk(starts(lane, 0), starts(lane, 2), boxes(lane, 2), boxes(lane, 3), t);
        };
        const auto flight = [&](double t) {
            return Flight<double>(starts(lane, 1), starts(lane, 3), boxes(lane, 0), boxes(lane, 1),
                                  t);
        };
        for (std::ptrdiff_t k = 0; k < solution.num_saves(); ++k) {
            CHECK(relative(solution.y(k)(lane, 0), walk(solution.t(k)).x) <= 1e-10);
            CHECK(relative(solution.y(k)(lane, 1), flight(solution.t(k)).y) <= 1e-10);
            CHECK(relative(solution.y(k)(lane, 2), walk(solution.t(k)).v) <= 1e-10);
            CHECK(relative(solution.y(k)(lane, 3), flight(solution.t(k)).v) <= 1e-10);
        }
        const Walk walls = walk(2);
        const auto floors = flight(2);
        CHECK(solution.stats(lane).events == walls.walls + floors.bounces);
        CHECK(std::fabs(solution.event_t(lane) - std::max(walls.last, floors.last)) <= 1e-11);
        const int wall = walls.v > 0 ? 1 : 2;  // the one met last
        CHECK(solution.event_index(lane) == (floors.last > walls.last ? 0 : wall));
    }
    CHECK(solution.total_stats().events > 12);
}

}  // namespace

TEST_CASE("several events: a ball in a box meets floor and walls in their order") {
    check_boxes(until(2));
    check_boxes(until(2), eddy::Serial{});
    check_boxes(by_steps_of(0.21, 2));  // several events to a step
}

TEST_CASE("several events: two at one time are both met, the lowest number first") {
    // Into the corner at t = 1, without gravity; and out of it by the same way.
    const Array y0 = rows({{1, 1, -1, -1}, {0.5, 2, -0.5, -2}, {2, 1, 1, -1}}),
                p = rows({{0, 1, 3, 1, 9}, {0, 1, 3, 1, 9}, {0, 1, 3, 1, 9}});
    const auto check = [&](const auto& solution) {
        require_success(solution);
        for (std::ptrdiff_t lane = 0; lane < 3; ++lane) {
            CAPTURE(lane);
            CHECK(solution.stats(lane).events == 2);
            // The wall at 3 is met where x rounds to 3, which is before the floor.
            CHECK(solution.event_index(lane) == (lane == 2 ? 0 : 1));
            CHECK(std::fabs(solution.event_t(lane) - 1) <= 1e-14);
            for (int i = 0; i < 2; ++i) {
                CHECK(std::fabs(solution.y()(lane, i) - (y0(lane, i) + y0(lane, 2 + i) / 2)) <=
                      1e-13);
                CHECK(solution.y()(lane, 2 + i) == -y0(lane, 2 + i));
            }
        }
    };
    check(eddy::solve(Boxed{}, eddy::Tsit5{}, y0, p, until(1.5)));
    check(eddy::solve(Boxed{}, eddy::Tsit5{}, y0, p, until(1.5), eddy::Serial{}));
}

TEST_CASE("several events: some end the lane, others do not, and the solution says which") {
    const Array y0 = rows({{0.5, 1, 1, 0}, {0.5, 1, 0.01, 0}, {0.5, 1, -1, 0}}),
                p = rows(
                    {{9.81, 0.8, 9, 1, 1.5}, {9.81, 0.8, 9, 1, 1.5}, {9.81, 0.8, 9, 0.5, 1.5}});
    const auto check = [&](const auto& solution) {
        CHECK(solution.result(0) == Result::event);
        CHECK(solution.event_index(0) == 3);
        CHECK(std::fabs(solution.event_t(0) - 1) <= 1e-13);
        CHECK(std::fabs(solution.y()(0, 0) - 1.5) <= 1e-13);
        CHECK(solution.y()(0, 2) == 1);  // no jump
        CHECK(solution.result(1) == Result::success);
        CHECK(solution.event_index(1) == 0);
        CHECK(solution.result(2) == Result::event);
        CHECK(solution.event_index(2) == 3);
        CHECK(std::fabs(solution.event_t(2) - 3.5) <= 1e-12);
        CHECK(solution.stats(2).events >= 6);
    };
    check(eddy::solve(Boxed{}, eddy::Tsit5{}, y0, p, until(3.6)));
    check(eddy::solve(Boxed{}, eddy::Tsit5{}, y0, p, until(3.6), eddy::Serial{}));
}

namespace {

struct Weighted {
    constexpr auto operator()(auto t, const auto& y, const auto&) const {
        return y[0] + 2 * y[1] + 0.5 * y[2] - y[3] + 0.3 * t;
    }
};

/// Of what is computed by steps of constant size, against its differences.
void check_differences(const SolveOptions& options, const Array& walls) {
    const auto of = [&](const Array& y0, const Array& p) {
        return eddy::value_and_gradient(Boxed{}, eddy::Tsit5{}, Weighted{}, y0, p, options);
    };
    const auto result = of(starts, walls);
    require_success(result.report);
    CHECK(result.report.total_stats().events >= 5);
    for (int k = 0; k < 9; ++k) {
        const double h = 1e-5;
        const auto loss = [&](double by) {
            Array y0 = starts, p = walls;
            for (std::ptrdiff_t lane = 0; lane < starts.rows(); ++lane)
                (k < 4 ? y0(lane, k) : p(lane, k - 4)) += by;
            return of(y0, p).loss;
        };
        const auto above = loss(h), below = loss(-h);
        for (std::ptrdiff_t lane = 0; lane < starts.rows(); ++lane) {
            CAPTURE(lane, k);
            const double slope = (above(lane) - below(lane)) / (2 * h);
            const double got = k < 4 ? result.gradient.y0(lane, k) : result.gradient.p(lane, k - 4);
            CHECK(relative(got, slope) <= 1e-7);
        }
    }
}

}  // namespace

TEST_CASE("several events: gradients are those of the numbers computed") {
    SolveOptions options = by_steps_of(0.15, 1.9);
    Array caught = boxes;
    for (std::ptrdiff_t lane = 0; lane < boxes.rows(); ++lane) {
        caught(lane, 4) = boxes(lane, 2);
        caught(lane, 2) = 9;
    }
    check_differences(options, caught);
    options.save_at = {0.4, 1.9};
    check_differences(options, boxes);
}
