// Tangents through events: of where balls are behind their bounces and of when they fall, against what is known
// exactly; forward mode against reverse mode; second derivatives against differences of first ones; and what
// becomes of lanes that have none.

#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solvers/kvaerno5.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <string>

#include "solve/event_fields.hpp"
#include "support/catch.hpp"

namespace {

using eddy::Result;
using eddy::SolveOptions;
using events::Array;
using events::Ball;
using events::by_steps_of;
using events::Flight;
using events::relative;
using events::rows;

/// Three functions of one field, for all tests: the ground, a speed at which tangled balls are slowed down, and
/// the ground again, where balls of negative restitution end.
struct Tangled : events::Tangled {
    constexpr auto event(auto t, const auto& y, const auto& p) const {
        const auto ground = events::Tangled::event(t, y, p);
        const auto slow = eddy::select(p[2] > 0, y[1] + 1.1 + 0.1 * p[0] - 0.05 * t, 1 + 0 * y[1]);
        return eddy::vec(eddy::select(p[1] < 0, 1 + 0 * t, ground), slow,
                         eddy::select(p[1] < 0, ground, 1 + 0 * t));
    }
    static constexpr bool event_terminal[] = {false, false, true};
    constexpr auto at_event(auto t, const auto& y, const auto& p, auto index) const {
        if constexpr (index == 0)
            return events::Tangled::at_event(t, y, p);
        else
            return eddy::vec(y[0] * (1.1 - 0.2 * p[1] * p[1]), 0.5 * y[1] + 0.1 * t * p[0]);
    }
};
struct Sum {
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return (1 + 0.2 * t) * y[0] * y[0] + 0.7 * y[1] * p[2] + 0.3 * t * t * p[0];
    }
};
/// The same, the time, and the state.
struct Observed {
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(Sum{}(t, y, p), t + 0 * y[0], y[0], y[1]);
    }
};

template <class... Extras>
auto push(const Array& y0, const Array& p, const Array& y0_tangent, const Array& p_tangent,
          const SolveOptions& options, const Extras&... extras) {
    return eddy::pushforward(Tangled{}, eddy::Tsit5{}, y0, p, y0_tangent, p_tangent, options,
                             eddy::observe(Observed{}), extras...);
}

const Array tangled_y0 = rows({{1, 0.5}, {1.3, -0.2}, {0.7, 1}}),
            y0_direction = rows({{0.3, -1}, {1, 0.2}, {-0.5, 0.7}}),
            p_direction = rows({{0.2, 1, -0.4, 0}, {-1, 0.3, 0.5, 0}, {0.6, -0.8, 1, 0}});
/// Of balls that end at the ground, or bounce; by a clock, if there is one.
Array tangled_p(bool ends, double clock) {
    Array p = rows({{2, 0.8, 0.7, clock}, {3, 0.6, 0.9, clock}, {2.5, 0.9, 0.5, clock}});
    for (std::ptrdiff_t lane = 0; lane < 3 && ends; ++lane) p(lane, 1) *= -1;
    return p;
}

Array moved(const Array& from, const Array& direction, double by) {
    Array to = from;
    for (std::ptrdiff_t i = 0; i < from.cols(); ++i)
        for (std::ptrdiff_t lane = 0; lane < from.rows(); ++lane)
            to(lane, i) += by * direction(lane, i);
    return to;
}

/// The gradient, and its derivative along the directions, where the lanes are moved by so much along them.
template <class Method>
auto multiply(const SolveOptions& options, const Array& p, double by) {
    return eddy::hessian_vector_product(
        Tangled{}, Method{}, Sum{}, moved(tangled_y0, y0_direction, by), moved(p, p_direction, by),
        y0_direction, p_direction, options);
}
/// Second derivatives are differences of gradients.
template <class Method>
void check_products(const SolveOptions& options, const Array& p, double tolerance) {
    const auto here = multiply<Method>(options, p, 0);
    require_success(here.report);
    CHECK(here.report.total_stats().events >= 3);
    const double h = 1e-4;
    const auto a = multiply<Method>(options, p, h), b = multiply<Method>(options, p, -h),
               c = multiply<Method>(options, p, 2 * h), d = multiply<Method>(options, p, -2 * h);
    for (std::ptrdiff_t lane = 0; lane < tangled_y0.rows(); ++lane) {
        CAPTURE(lane);
        const auto slope = [&](const auto& of) {
            return (8 * (of(a) - of(b)) - (of(c) - of(d))) / (12 * h);
        };
        for (int i = 0; i < 2; ++i)
            CHECK(relative(here.product.y0(lane, i), slope([&](const auto& x) {
                               return x.gradient.y0(lane, i);
                           })) <= tolerance);
        for (int i = 0; i < 3; ++i)
            CHECK(relative(here.product.p(lane, i), slope([&](const auto& x) {
                               return x.gradient.p(lane, i);
                           })) <= tolerance);
    }
}
/// And tangents are gradients along the directions.
void check_tangents(const SolveOptions& options, const Array& p) {
    const auto solution = push(tangled_y0, p, y0_direction, p_direction, options);
    require_success(solution);
    check_products<eddy::Tsit5>(options, p, 1e-7);
    const auto reverse = multiply<eddy::Tsit5>(options, p, 0);
    for (std::ptrdiff_t lane = 0; lane < tangled_y0.rows(); ++lane) {
        CAPTURE(lane);
        double along = 0, sum = 0;
        for (int i = 0; i < 2; ++i) along += reverse.gradient.y0(lane, i) * y0_direction(lane, i);
        for (int i = 0; i < 4; ++i) along += reverse.gradient.p(lane, i) * p_direction(lane, i);
        for (std::ptrdiff_t k = 0; k < solution.num_saves(); ++k) {
            const double tangent = solution.tangent(k)(lane, 0);
            sum += std::isnan(tangent) ? 0 : tangent;  // behind the end
        }
        CHECK(relative(sum, along) <= 1e-12);
    }
}

}  // namespace

TEST_CASE("event tangents: forward mode is reverse mode, and second derivatives are of both") {
    SolveOptions options = by_steps_of(0.17, 3);
    options.save_at = {0.5, 1.45, 2.1, 3};
    options.step_to = {1.1};
    check_tangents(options, tangled_p(false, 0));
    options.save_at = {};
    options.t1 = 10;
    check_tangents(options, tangled_p(true, 0));
}

TEST_CASE("event tangents: so are they where events are at stops, jumps and save points") {
    SolveOptions options = by_steps_of(0.1875, 2);
    options.jump_times = {1};
    check_tangents(options, tangled_p(false, 1));
    for (const bool stops : {false, true}) {
        if (stops) options.step_to = {0.375};
        options.save_at = {0.375, 2};
        check_tangents(options, tangled_p(false, 0.375));
        options.save_at = {0.25, 0.375};
        check_tangents(options, tangled_p(true, 0.375));
    }
    options.save_at = options.step_to = options.jump_times = {};
    options.t1 = 0.375;
    check_tangents(options, tangled_p(false, 0.375));
    check_tangents(options, tangled_p(true, 0.375));
}

// Balls without tangle fly along parabolas, which a step and its interpolant have to rounding. Derivatives by the
// step's size have it over 0.1875, some 30 units in the last place (the sum of the stages' weights): below 1e-12.
TEST_CASE("event tangents: a save point at the very time of the end does not move with it") {
    Array p = tangled_p(true, 0.375), of_clock(3, 4, 0.);
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) p(lane, 2) = 0, of_clock(lane, 3) = 1;
    SolveOptions options = by_steps_of(0.1875, 2);
    options.save_at = {0.25, 0.375};
    for (const bool stops : {false, true}) {
        if (stops) options.step_to = {0.375};
        const auto solution = push(tangled_y0, p, Array(3, 2, 0.), of_clock, options);
        for (std::ptrdiff_t lane = 0; lane < 3; ++lane) {
            CAPTURE(lane, stops);
            CHECK(solution.event_t(lane) == 0.375);
            for (std::ptrdiff_t k = 0; k < 2; ++k)
                for (int i = 0; i < 4; ++i) CHECK(std::fabs(solution.tangent(k)(lane, i)) <= 1e-12);
        }
    }
    // The end itself does.
    options.save_at = options.step_to = {};
    const auto solution = push(tangled_y0, p, Array(3, 2, 0.), of_clock, options);
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) {
        CHECK(relative(solution.tangent()(lane, 1), 1) <= 1e-14);
        CHECK(relative(solution.tangent()(lane, 2), solution.y()(lane, 3)) <= 1e-12);
    }
}

// At rest without weight, loss(clock, weight) = (1 + clock/5) weight² clock⁴/4 + 3 clock² weight/10: no slope by the
// clock at weight 0, for the step's size a cotangent of exactly zero, which has a derivative.
TEST_CASE("event tangents: a size whose cotangent is zero has second derivatives") {
    constexpr double clock = 0.375;
    const Array p = rows({{0, -0.8, 0, clock}}), rest = rows({{0, 0}});
    const auto along = [&](const Array& direction) {
        return eddy::hessian_vector_product(Tangled{}, eddy::Tsit5{}, Sum{}, rest, p, rest,
                                            direction, by_steps_of(0.1875, 2));
    };

    const auto of_weight = along(rows({{1, 0, 0, 0}})), of_clock = along(rows({{0, 0, 0, 1}}));

    CHECK(of_weight.report.result(0) == Result::event);
    CHECK(of_weight.gradient.p(0, 3) == 0);
    CHECK(relative(of_weight.product.p(0, 3), 0.6 * clock) <= 1e-14);
    CHECK(relative(of_weight.product.p(0, 0), (1 + clock / 5) * std::pow(clock, 4) / 2) <= 1e-14);
    CHECK(relative(of_clock.product.p(0, 0), 0.6 * clock) <= 1e-14);
    CHECK(of_clock.product.p(0, 3) == 0);
}

TEST_CASE("event tangents: second derivatives by implicit methods are differences of first ones") {
    SolveOptions options = by_steps_of(0.17, 3);
    options.save_at = {0.5, 1.45, 2.1, 3};
    options.step_to = {1.1};
    check_products<eddy::Rodas5P>(options, tangled_p(false, 0), 1e-7);
    check_products<eddy::Rodas5P>(by_steps_of(0.17, 10), tangled_p(true, 0), 1e-7);
    // Newton's iterations converge as far as tolerances ask, which choose the sizes as well: those are data.
    options = {.t1 = 3, .rtol = 1e-11, .atol = 1e-12, .save_at = options.save_at};
    check_products<eddy::Kvaerno5>(options, tangled_p(false, 0), 1e-6);
    options.save_at = {};
    options.t1 = 10;
    check_products<eddy::Kvaerno5>(options, tangled_p(true, 0), 1e-6);
}

TEST_CASE("event tangents: by sizes that a controller chooses they are those of smaller ones") {
    SolveOptions options{.t1 = 3, .rtol = 1e-11, .atol = 1e-12, .save_at = {0.5, 1.45, 2.1, 3}};
    const auto chosen = push(tangled_y0, tangled_p(false, 0), y0_direction, p_direction, options);
    SolveOptions small = by_steps_of(1e-3, 3);
    small.save_at = options.save_at;
    const auto constant = push(tangled_y0, tangled_p(false, 0), y0_direction, p_direction, small);
    CHECK(chosen.total_stats().events == constant.total_stats().events);
    for (std::ptrdiff_t k = 0; k < chosen.num_saves(); ++k)
        for (std::ptrdiff_t lane = 0; lane < 3; ++lane)
            for (int i = 0; i < 4; ++i)
                CHECK(relative(chosen.tangent(k)(lane, i), constant.tangent(k)(lane, i)) <= 2e-8);
}

TEST_CASE("event tangents: of when a ball falls, and how fast it is there, they are exact") {
    const Array y0 = rows({{1, 0.5}, {1.3, -0.2}, {0.7, 2}, {0, 1}}),
                p = rows({{9.81, -1, 0, 0}, {3.7, -1, 0, 0}, {1.6, -1, 0, 0}, {2, -1, 0, 0}}),
                y0_tangent = rows({{1, 0}, {0, 1}, {0.3, -0.7}, {0, 1}}),
                p_tangent = rows({{0, 0, 0, 0}, {0.5, 0, 0, 0}, {1, 0, 0, 0}, {0.3, 0, 0, 0}});
    for (const double direction : {1., -1.}) {
        SolveOptions options{.t1 = 10 * direction, .rtol = 1e-9, .atol = 1e-11};
        Array thrown = y0, tangent = y0_tangent;
        for (std::ptrdiff_t lane = 0; lane < 4; ++lane) {
            thrown(lane, 1) *= direction;
            tangent(lane, 1) *= direction;
        }
        const auto solution = push(thrown, p, tangent, p_tangent, options);
        for (std::ptrdiff_t lane = 0; lane < 4; ++lane) {
            CAPTURE(lane, direction);
            // t = (v + s) / g, the speed there −s, s = √(v² + 2 g y).
            const double y = y0(lane, 0), v = y0(lane, 1), g = p(lane, 0);
            const double s = std::sqrt(v * v + 2 * g * y);
            const double along =
                (v * y0_tangent(lane, 1) + g * y0_tangent(lane, 0) + y * p_tangent(lane, 0)) / s;
            const double time =
                (y0_tangent(lane, 1) + along) / g - (v + s) / (g * g) * p_tangent(lane, 0);
            CHECK(solution.result(lane) == Result::event);
            CHECK(relative(solution.tangent()(lane, 1), direction * time) <= 1e-12);
            CHECK(relative(solution.tangent()(lane, 3), -direction * along) <= 1e-12);
        }
    }
}

namespace {

/// Of heights and speeds in these columns, against differences of fourth order in long double.
template <class Solution, class Values>
void check_flights(const Solution& solution, const Values& y0, const Values& p,
                   const Values& y0_tangent, const Values& p_tangent, int height,
                   double tolerance) {
    require_success(solution);
    for (std::ptrdiff_t lane = 0; lane < y0.rows(); ++lane) {
        for (std::ptrdiff_t k = 0; k < solution.num_saves(); ++k) {
            CAPTURE(lane, k);
            const Flight<double> here(y0(lane, 0), y0(lane, 1), p(lane, 0), p(lane, 1),
                                      solution.t(k));
            const auto at = [&](int n) {  // with as many bounces
                const auto of = [&](const Values& values, const Values& tangents, int i) {
                    return static_cast<long double>(values(lane, i)) +
                           1e-4L * static_cast<long double>(n) *
                               static_cast<long double>(tangents(lane, i));
                };
                return Flight<long double>(of(y0, y0_tangent, 0), of(y0, y0_tangent, 1),
                                           of(p, p_tangent, 0), of(p, p_tangent, 1), solution.t(k),
                                           here.bounces);
            };
            const auto slope = [&](auto part) {
                return static_cast<double>(
                    (8 * (part(at(1)) - part(at(-1))) - (part(at(2)) - part(at(-2)))) / 12e-4L);
            };
            const auto got = [&](int i) {
                return static_cast<double>(solution.tangent(k)(lane, i));
            };
            CHECK(relative(got(height), slope([](auto x) { return x.y; })) <= tolerance);
            CHECK(relative(got(height + 1), slope([](auto x) { return x.v; })) <= tolerance);
        }
    }
    CHECK(solution.total_stats().events >= 6);
}

}  // namespace

TEST_CASE("event tangents: of a ball behind its bounces they are those of where it should be") {
    const Array y0 = rows({{1, 0.5}, {1.3, -0.2}}),
                p = rows({{9.81, 0.8, 0, 0}, {9.81, 0.75, 0, 0}}),
                y0_tangent = rows({{1, -0.5}, {0.3, 0.2}}),
                p_tangent = rows({{0.4, 0.1, 0, 0}, {-1, 0.2, 0, 0}});
    const SolveOptions options{.t1 = 2.2, .rtol = 1e-9, .atol = 1e-11, .save_at = {0.1, 0.8, 2.2}};
    check_flights(push(y0, p, y0_tangent, p_tangent, options), y0, p, y0_tangent, p_tangent, 2,
                  1e-10);
}

TEST_CASE("event tangents: in single precision they are those that it can tell, of one function") {
    const auto y0 = rows<float>({{1, 0.5}, {1.3, -0.2}}),
               p = rows<float>({{9.81, 0.8}, {9.81, 0.75}}),
               y0_tangent = rows<float>({{1, -0.5}, {0.3, 0.2}}),
               p_tangent = rows<float>({{0.4, 0.1}, {-1, 0.2}});
    const SolveOptions options{.t1 = 1.9, .rtol = 1e-5, .atol = 1e-6, .save_at = {0.1, 0.8, 1.9}};
    check_flights(eddy::pushforward(Ball{}, eddy::Tsit5{}, y0, p, y0_tangent, p_tangent, options),
                  y0, p, y0_tangent, p_tangent, 0, 1e-3);
}

TEST_CASE("event tangents: where an event's function has no slope the lane fails, alone") {
    const Array y0 = rows({{1, 0}, {1, -60}, {0.5, 0}}),
                p = rows({{9.81, -1, 0, 0}, {9.81, -1, 0, 0}, {9.81, -1, 0, 0}}),
                y0_tangent = rows({{1, 0}, {1, 0}, {1, 0}}),
                p_tangent = rows({{0, 1, 0, 0}, {0, 1, 0, 0}, {0, 1, 0, 0}});
    const auto check = [&](const auto& solution) {
        CHECK(solution.result(1) == Result::non_finite);
        CHECK(solution.failure(1).component == -1);
        CHECK(std::fabs(solution.failure(1).t - 2 / (60 + std::sqrt(3600 + 2 * 9.81))) <= 1e-14);
        for (const std::ptrdiff_t lane : {0, 2}) {
            CHECK(solution.result(lane) == Result::event);
            CHECK(relative(solution.tangent()(lane, 1), 1 / std::sqrt(2 * 9.81 * y0(lane, 0))) <=
                  1e-13);
        }
    };
    check(push(y0, p, y0_tangent, p_tangent, {.t1 = 10}, eddy::Serial{}));
    check(push(y0, p, y0_tangent, p_tangent, {.t1 = 10}));
}

TEST_CASE("event tangents: of thousands of lanes those without a number harm no other") {
    Array y0(3001, 2), p(3001, 4), y0_tangent(3001, 2, 1.), p_tangent(3001, 4, 0.5);
    for (std::ptrdiff_t lane = 0; lane < 3001; ++lane) {
        const double x = static_cast<double>(lane % 97) / 97;
        y0(lane, 0) = 0.5 + x, y0(lane, 1) = 1 - 2 * x;
        p(lane, 0) = 2 + x, p(lane, 1) = lane % 3 == 0 ? -1 : 0.8,
                p(lane, 2) = lane % 2 == 0 ? 0 : 0.5;
    }
    const SolveOptions options{
        .t1 = 2, .rtol = 1e-6, .save_at = {0.5, 1, 2}, .jump_times = {1}, .max_steps = 3000};
    const auto whole = push(y0, p, y0_tangent, p_tangent, options);
    // A function of events that is no number (0 ∞), or infinite; and a ball that comes to rest.
    y0(100, 1) = y0(1501, 1) = 1e200;
    p(2000, 0) = 1000, p(2000, 1) = 0.5, p(2000, 2) = 0;
    const auto some = push(y0, p, y0_tangent, p_tangent, options);

    CHECK(some.result(100) == Result::non_finite);
    CHECK(some.failure(100).component == -1);
    CHECK(is_failure(some.result(1501)));
    CHECK(some.result(2000) == Result::max_steps_reached);
    CHECK(std::string(some.message(2000)).find("most steps ended at events") != std::string::npos);
    std::ptrdiff_t different = 0, with_events = 0;
    for (std::ptrdiff_t lane = 0; lane < 3001; ++lane) {
        if (is_failure(some.result(lane))) continue;
        with_events += some.stats(lane).events > 0;
        for (std::ptrdiff_t k = 0; k < some.num_saves(); ++k)
            different += !support::same_row(some.tangent(k), lane, whole.tangent(k), lane) ||
                         !support::same_row(some.y(k), lane, whole.y(k), lane);
    }
    CHECK(different == 0);
    CHECK(with_events > 2900);
}
