// Tangents through events: of where balls are behind their bounces and of when they fall, against what is known
// exactly; forward mode against reverse mode; second derivatives against differences of first ones.

#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solvers/rk4.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "solve/event_fields.hpp"
#include "support/catch.hpp"

namespace {

using eddy::Result;
using eddy::SolveOptions;
using events::Array;
using events::Ball;
using events::Drop;
using events::Flight;
using events::relative;
using events::rows;

/// Everything depends on everything: time, state, parameters, in f, in the events and in the jumps.
struct Tangled {
    static constexpr int state_size = 2, parameter_size = 3;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(y[1] + 0.1 * p[2] * t, -p[0] - 0.3 * p[2] * y[1] * y[0] + 0.2 * t);
    }
    constexpr auto event(auto t, const auto& y, const auto& p) const {
        return eddy::vec(y[0] - 0.1 * p[1] * t - 0.05 * y[1] * y[1] * p[2] + 0.02,
                         y[1] + 1.1 + 0.1 * p[0] - 0.05 * t);
    }
    static constexpr auto event_direction = eddy::Crossing::falling;
    constexpr auto at_event(auto t, const auto& y, const auto& p, auto index) const {
        if constexpr (index == 0)
            return eddy::vec(y[0] + 0.3 + 0.1 * t * p[1], -p[2] * y[1] + 0.5 * y[0] * t);
        else
            return eddy::vec(y[0] * p[1], 0.5 * y[1] + 0.1 * t * p[0]);
    }
};
/// The second of its events ends the lane.
struct Ended : Tangled {
    static constexpr bool event_terminal[] = {false, true};
    constexpr auto event(auto t, const auto& y, const auto& p) const {
        return Tangled::event(t, y, p);
    }
    constexpr auto at_event(auto t, const auto& y, const auto& p, auto index) const {
        return Tangled::at_event(t, y, p, index);
    }
};
struct Sum {
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return (1 + 0.2 * t) * y[0] * y[0] + 0.7 * y[1] * p[2] + 0.3 * t * t * p[0];
    }
};
struct TimeAndSpeed {
    constexpr auto operator()(auto t, const auto& y, const auto&) const {
        return eddy::vec(t + 0 * y[0], y[1]);
    }
};

const Array tangled_y0 = rows({{1, 0.5}, {1.3, -0.2}, {0.7, 1}}),
            tangled_p = rows({{2, 0.8, 0.7}, {3, 0.6, 0.9}, {2.5, 1.1, 0.5}}),
            y0_direction = rows({{0.3, -1}, {1, 0.2}, {-0.5, 0.7}}),
            p_direction = rows({{0.2, 1, -0.4}, {-1, 0.3, 0.5}, {0.6, -0.8, 1}});

Array moved(const Array& from, const Array& direction, double by) {
    Array to = from;
    for (std::ptrdiff_t i = 0; i < from.cols(); ++i)
        for (std::ptrdiff_t lane = 0; lane < from.rows(); ++lane)
            to(lane, i) += by * direction(lane, i);
    return to;
}

/// Of the observed numbers: tangents are the gradients along the directions, second derivatives differences of
/// gradients.
template <class Field, class Method, class... Extras>
void check_tangents(const SolveOptions& options, double tolerance, const Extras&... extras) {
    const auto solution = eddy::pushforward(Field{}, Method{}, tangled_y0, tangled_p, y0_direction,
                                            p_direction, options, extras..., eddy::observe(Sum{}));
    require_success(solution);
    CHECK(solution.total_stats().events >= 3);
    const auto gradient = [&](double by) {
        return eddy::value_and_gradient(Field{}, Method{}, Sum{},
                                        moved(tangled_y0, y0_direction, by),
                                        moved(tangled_p, p_direction, by), options, extras...);
    };
    const auto reverse = gradient(0);
    const auto product =
        eddy::hessian_vector_product(Field{}, Method{}, Sum{}, tangled_y0, tangled_p, y0_direction,
                                     p_direction, options, extras...);
    const double h = 1e-4;
    const auto a = gradient(h), b = gradient(-h), c = gradient(2 * h), d = gradient(-2 * h);
    for (std::ptrdiff_t lane = 0; lane < tangled_y0.rows(); ++lane) {
        CAPTURE(lane);
        double along = 0, sum = 0;
        for (int i = 0; i < 2; ++i) along += reverse.gradient.y0(lane, i) * y0_direction(lane, i);
        for (int i = 0; i < 3; ++i) along += reverse.gradient.p(lane, i) * p_direction(lane, i);
        for (std::ptrdiff_t k = 0; k < solution.num_saves(); ++k)
            sum += solution.tangent(k)(lane, 0);
        CHECK(relative(sum, along) <= 1e-12);
        const auto slope = [&](const auto& of) {
            return (8 * (of(a) - of(b)) - (of(c) - of(d))) / (12 * h);
        };
        for (int i = 0; i < 2; ++i)
            CHECK(relative(product.product.y0(lane, i), slope([&](const auto& x) {
                               return x.gradient.y0(lane, i);
                           })) <= tolerance);
        for (int i = 0; i < 3; ++i)
            CHECK(relative(product.product.p(lane, i), slope([&](const auto& x) {
                               return x.gradient.p(lane, i);
                           })) <= tolerance);
    }
}

}  // namespace

TEST_CASE("event tangents: forward mode is reverse mode, and second derivatives are of both") {
    SolveOptions options{.t1 = 3, .save_at = {0.5, 1.45, 2.1, 3}, .step_to = {1.1}, .dt0 = 0.17};
    check_tangents<Tangled, eddy::RK4>(options, 1e-7);
    check_tangents<Tangled, eddy::RK4>(options, 1e-7, eddy::Serial{});
    options.save_at = {};
    options.t1 = 10;
    check_tangents<Ended, eddy::RK4>(options, 1e-7);
    check_tangents<Ended, eddy::RK4>(options, 1e-7, eddy::Serial{});
}

TEST_CASE("event tangents: of when a ball falls, and how fast it is there, they are exact") {
    const Array y0 = rows({{1, 0.5}, {1.3, -0.2}, {0.7, 2}}),
                p = rows({{9.81, 0}, {3.7, 0}, {1.6, 0}}),
                y0_tangent = rows({{1, 0}, {0, 1}, {0.3, -0.7}}),
                p_tangent = rows({{0, 0}, {0.5, 0}, {1, 0}});
    const SolveOptions options{.t1 = 10, .rtol = 1e-9, .atol = 1e-11};
    const auto solution = eddy::pushforward(Drop{}, eddy::Tsit5{}, y0, p, y0_tangent, p_tangent,
                                            options, eddy::observe(TimeAndSpeed{}));
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) {
        CAPTURE(lane);
        // t = (v + s) / g, the speed there −s, s = √(v² + 2 g y).
        const double y = y0(lane, 0), v = y0(lane, 1), g = p(lane, 0);
        const double s = std::sqrt(v * v + 2 * g * y);
        const double along =
            (v * y0_tangent(lane, 1) + g * y0_tangent(lane, 0) + y * p_tangent(lane, 0)) / s;
        const double time =
            (y0_tangent(lane, 1) + along) / g - (v + s) / (g * g) * p_tangent(lane, 0);
        CHECK(solution.result(lane) == Result::event);
        CHECK(relative(solution.tangent()(lane, 0), time) <= 1e-12);
        CHECK(relative(solution.tangent()(lane, 1), -along) <= 1e-12);
    }
}

TEST_CASE("event tangents: of a ball behind its bounces they are those of where it should be") {
    const Array y0 = rows({{1, 0.5}, {1.3, -0.2}}), p = rows({{9.81, 0.8}, {9.81, 0.75}}),
                y0_tangent = rows({{1, -0.5}, {0.3, 0.2}}),
                p_tangent = rows({{0.4, 0.1}, {-1, 0.2}});
    const SolveOptions options{.t1 = 2.2, .rtol = 1e-9, .atol = 1e-11, .save_at = {0.1, 0.8, 2.2}};
    const auto solution =
        eddy::pushforward(Ball{}, eddy::Tsit5{}, y0, p, y0_tangent, p_tangent, options);
    require_success(solution);
    for (std::ptrdiff_t lane = 0; lane < 2; ++lane) {
        for (std::ptrdiff_t k = 0; k < solution.num_saves(); ++k) {
            CAPTURE(lane, k);
            const Flight<double> here(y0(lane, 0), y0(lane, 1), p(lane, 0), p(lane, 1),
                                      solution.t(k));
            // Differences of fourth order in long double, with as many bounces.
            const auto at = [&](int n) {
                const long double h = 1e-4L * static_cast<long double>(n);
                return Flight<long double>(
                    y0(lane, 0) + h * y0_tangent(lane, 0), y0(lane, 1) + h * y0_tangent(lane, 1),
                    p(lane, 0) + h * p_tangent(lane, 0), p(lane, 1) + h * p_tangent(lane, 1),
                    solution.t(k), here.bounces);
            };
            const auto slope = [&](auto part) {
                return static_cast<double>(
                    (8 * (part(at(1)) - part(at(-1))) - (part(at(2)) - part(at(-2)))) / 12e-4L);
            };
            CHECK(relative(solution.tangent(k)(lane, 0), slope([](auto x) { return x.y; })) <=
                  1e-10);
            CHECK(relative(solution.tangent(k)(lane, 1), slope([](auto x) { return x.v; })) <=
                  1e-10);
        }
    }
    CHECK(solution.total_stats().events >= 6);
}

namespace {

/// In lanes with p > 0 the event's function steps over zero, by heights that depend on p.
struct Stepped {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        return eddy::vec(0 * y[0] + 1);
    }
    constexpr auto event(auto, const auto& y, const auto& p) const {
        return eddy::select(p[0] > 0, eddy::select(y[0] < 1, p[0] - 2, p[0]), y[0] - 1 + p[0]);
    }
};

}  // namespace

TEST_CASE("event tangents: where an event's function has no slope the lane fails, alone") {
    const Array y0 = rows({{0.5}, {0.25}, {0.5}}), p = rows({{0}, {1}, {0}}),
                tangent = rows({{1}, {1}, {1}});
    const auto solve = [&](auto backend) {
        return eddy::Solution<double>(eddy::pushforward(Stepped{}, eddy::Tsit5{}, y0, p, tangent,
                                                        tangent, {.t1 = 10}, backend));
    };
    const eddy::Solution<double> both[] = {solve(eddy::Serial{}), solve(eddy::Cpu{})};
    for (const auto& solution : both) {
        CHECK(solution.result(1) == Result::non_finite);
        CHECK(solution.failure(1).component == -1);
        CHECK(std::fabs(solution.failure(1).t - 0.75) <= 1e-14);
        for (const std::ptrdiff_t lane : {0, 2}) {
            CHECK(solution.result(lane) == Result::event);
            CHECK(std::fabs(solution.tangent()(lane, 0) + 1) <= 1e-14);  // y ends at 1 − p
        }
    }
}
