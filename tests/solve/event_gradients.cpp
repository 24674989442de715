// Gradients through events: of the time at which a lane ends, of states behind bounces, against what is known
// exactly; and of steps of constant size against differences of the numbers themselves. By packs, and over rows, for which no
// equation is compiled; that packs have the bits of Serial is told in event_oracle.cpp.

#include <eddy/backends/cpu.hpp>
#include <eddy/backends/rows.hpp>
#include <eddy/solvers/kvaerno5.hpp>
#include <eddy/solvers/rk4.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/taylor.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <vector>

#include "solve/event_differences.hpp"
#include "support/catch.hpp"

namespace {

using eddy::Result;
using eddy::SolveOptions;
using events::Array;
using events::by_steps_of;
using events::check_differences;
using events::Ended;
using events::Flight;
using events::part;
using events::relative;
using events::rows;
using events::Side;
using events::Tangled;

/// The time itself, the state, or both and more: one type of loss for all tests.
struct Weighted {
    constexpr auto operator()(auto t, const auto& y, const auto& p, const auto& weights) const {
        const auto more = (1 + 0.2 * t) * y[0] * y[0] + 0.7 * y[1] * p[1] + 0.3 * t * p[0];
        return weights[0] * t + weights[1] * (y[0] + 2 * y[1]) + weights[0] * weights[1] * more;
    }
};
const Array of_time = rows({{1, 0}}), of_state = rows({{0, 1}}), of_all = rows({{1, 1}});
std::vector<Array> at_saves(const Array& weights, const SolveOptions& options) {
    return std::vector(std::max<std::size_t>(options.save_at.values.size(), 1), weights);
}

template <class Field, class Method, class Parameters, class... Extras>
auto solve_loss(const Method& method, const Array& weights, const Array& y0, const Parameters& p,
                const SolveOptions& options, const Extras&... extras) {
    return eddy::value_and_gradient(Field{}, method, Weighted{}, at_saves(weights, options), y0, p,
                                    options, extras...);
}

const Array thrown = rows({{1, 0.5}, {1.3, -0.2}, {0.7, 2}, {0.1, 3}});
const Array balls =
    rows({{9.81, 0.8, 0, 0}, {9.81, 0.75, 0, 0}, {3.7, 0.9, 0, 0}, {1.6, 0.7, 0, 0}});

const std::vector<double> earth{9.81, 0.8, 0, 0};  // that lanes may share

/// d f(x)/dx_k of four numbers by eighth-order differences, in long double.
template <class Function>
double slope(const Function& f, const long double (&x)[4], int k) {
    const long double h = 1e-3L;
    const auto at = [&](int n) {
        long double moved[4] = {x[0], x[1], x[2], x[3]};
        moved[k] += static_cast<long double>(n) * h;
        return f(moved);
    };
    const long double c[4] = {4 / 5.L, -1 / 5.L, 4 / 105.L, -1 / 280.L};
    long double sum = 0;
    for (int n = 1; n <= 4; ++n) sum += c[n - 1] * (at(n) - at(-n));
    return static_cast<double>(sum / h);
}
/// Where balls are at save points, and gradients of it.
template <class Method, class... Extras>
void check_balls(const Method& method, double tolerance, const SolveOptions& options,
                 const Extras&... extras) {
    const auto [loss, gradient, report] =
        solve_loss<Tangled>(method, of_state, thrown, balls, options, extras...);
    require_success(report);
    std::vector<double> times = options.save_at.values;
    if (times.empty()) times = {options.t1};
    std::int64_t most = 0;
    for (std::ptrdiff_t lane = 0; lane < thrown.rows(); ++lane) {
        CAPTURE(lane);
        const long double x[4] = {thrown(lane, 0), thrown(lane, 1), balls(lane, 0), balls(lane, 1)};
        const auto here = [&](double t) {
            return Flight<double>(thrown(lane, 0), thrown(lane, 1), balls(lane, 0), balls(lane, 1),
                                  t);
        };
        const auto wanted = [&](const long double(&of)[4]) {
            long double sum = 0;
            for (const double t : times) {
                // As often as the lane itself: the ball of a difference goes on below the ground.
                const Flight<long double> there(of[0], of[1], of[2], of[3], t, here(t).bounces);
                sum += there.y + 2 * there.v;
            }
            return sum;
        };
        CHECK(relative(loss(lane), static_cast<double>(wanted(x))) <= tolerance);
        CHECK(report.stats(lane).events == here(options.t1).bounces);
        if (report.stats(lane).events > 0)
            CHECK(relative(report.event_t(lane), here(options.t1).last) <= tolerance);
        for (int k = 0; k < 4; ++k) {
            CAPTURE(k);
            CHECK(relative(part(gradient, lane, k), slope(wanted, x, k)) <= tolerance);
        }
        most = std::max(most, report.stats(lane).events);
    }
    CHECK(most >= 5);
}

SolveOptions until(double t1) { return {.t1 = t1, .rtol = 1e-10, .atol = 1e-12}; }

}  // namespace

TEST_CASE(
    "event gradients: of a ball behind several bounces they are exact, by every kind of method") {
    for (const bool saves : {false, true}) {
        SolveOptions options = until(2.75);
        if (saves) options.save_at = {0, 0.1, 0.8, 1.5, 1.50001, 2.75};
        check_balls(eddy::Tsit5{}, 1e-10, options);
        check_balls(eddy::Tsit5{}, 1e-10, options, eddy::Rows{});
        check_balls(eddy::Rodas5P{}, 1e-10, options, eddy::Rows{});
        check_balls(eddy::Kvaerno5{}, 1e-10, options, eddy::Rows{});
        check_balls(eddy::Taylor<12>{}, 1e-10, options);
        options.rtol = 0.1;  // the steps of a parabola are exact whatever their sizes
        options.atol = 0.1;
        check_balls(eddy::Tsit5{}, 1e-10, options);
    }
    const SolveOptions options{.t1 = 2.75, .dt0 = 0.013};
    check_balls(eddy::RK4{}, 1e-10, options, eddy::differentiate_times, eddy::Rows{});
}

TEST_CASE("event gradients: the time at which a lane ends has one, and so has the state there") {
    // t = (v + √(v² + 2 g y)) / g; v there −√(v² + 2 g y).
    for (const bool over_rows : {true, false}) {
        const auto solve = [&](const Array& weights) {
            return over_rows ? solve_loss<Ended>(eddy::Tsit5{}, weights, thrown,
                                                 eddy::shared(earth), until(10), eddy::Rows{})
                             : solve_loss<Ended>(eddy::Tsit5{}, weights, thrown,
                                                 eddy::shared(earth), until(10));
        };
        const auto when = solve(of_time), where = solve(of_state);
        double when_by_g = 0, where_by_g = 0;
        for (std::ptrdiff_t lane = 0; lane < thrown.rows(); ++lane) {
            CAPTURE(lane);
            const double y = thrown(lane, 0), v = thrown(lane, 1), g = earth[0];
            const double speed = std::sqrt(v * v + 2 * g * y), time = (v + speed) / g;
            CHECK(when.report.result(lane) == Result::event);
            CHECK(relative(when.loss(lane), time) <= 1e-13);
            CHECK(relative(when.gradient.y0(lane, 0), 1 / speed) <= 1e-12);
            CHECK(relative(when.gradient.y0(lane, 1), (1 + v / speed) / g) <= 1e-12);
            CHECK(relative(where.loss(lane), -2 * speed) <= 1e-12);
            CHECK(relative(where.gradient.y0(lane, 0), -2 * g / speed) <= 1e-11);
            CHECK(relative(where.gradient.y0(lane, 1), -2 * v / speed) <= 1e-11);
            when_by_g += y / (g * speed) - time / g;
            where_by_g += -2 * y / speed;
        }
        CHECK(relative(when.gradient.p(0, 0), when_by_g) <= 1e-12);
        CHECK(relative(where.gradient.p(0, 0), where_by_g) <= 1e-11);
        CHECK(when.gradient.p(0, 1) == 0);
    }
}

namespace {

const Array tangled_y0 = rows({{1, 0.5}, {1.3, -0.2}, {0.7, 1}}),
            tangled_p = rows({{2, 0.8, 0.7, 0}, {3, 0.6, 0.9, 0}, {2.5, 0.9, 0.5, 0}});

/// Of the events, if they have one.
struct Clock {
    double at = 0;
    Side side = Side::nowhere;
};
const Clock no_clock;
template <class Field, class Method, class... Extras>
void check_tangled(double tolerance, const SolveOptions& options, const Clock& clock,
                   const Extras&... extras) {
    check_differences(tolerance, clock.side, [&](int k, double by) {
        Array y0 = tangled_y0, p = tangled_p;
        for (std::ptrdiff_t lane = 0; lane < 3; ++lane) p(lane, 3) = clock.at;
        for (std::ptrdiff_t lane = 0; lane < 3; ++lane)
            (k < 2 ? y0(lane, k) : p(lane, k - 2)) += by;
        return solve_loss<Field>(Method{}, of_all, y0, p, options, extras...);
    });
}
template <class... Extras>
void check_ended(double tolerance, const SolveOptions& options, const Clock& clock,
                 const Extras&... extras) {
    check_differences(tolerance, clock.side, [&](int k, double by) {
        Array y0 = tangled_y0;
        std::vector<double> p{2.5, 0.8, 0.7, clock.at};
        for (std::ptrdiff_t lane = 0; lane < 3 && k < 2; ++lane) y0(lane, k) += by;
        if (k >= 2) p[static_cast<std::size_t>(k - 2)] += by;
        return solve_loss<Ended>(eddy::Tsit5{}, of_all, y0, eddy::shared(p), options, extras...);
    });
}

}  // namespace

TEST_CASE("event gradients: they are those of the numbers computed, by steps of any accuracy") {
    // Steps far too large for the equation: their own derivatives by their sizes are what counts.
    SolveOptions options = by_steps_of(0.17, 3);
    options.save_at = {0.5, 1.45, 2.1, 3};
    check_tangled<Tangled, eddy::Tsit5>(2e-9, options, no_clock);
    check_tangled<Tangled, eddy::Tsit5>(2e-9, options, no_clock, eddy::Rows{});
    check_tangled<Tangled, eddy::Rodas5P>(2e-9, options, no_clock, eddy::Rows{});
    SolveOptions constant{.t1 = 3, .save_at = options.save_at, .dt0 = 0.17};
    check_tangled<Tangled, eddy::RK4>(2e-9, constant, no_clock, eddy::differentiate_times);
    constant.save_at = {};
    constant.step_to = {1.1};
    check_tangled<Tangled, eddy::RK4>(2e-9, constant, no_clock, eddy::differentiate_times,
                                      eddy::Rows{});
    check_ended(2e-9, by_steps_of(0.17, 10), no_clock);
    check_ended(2e-9, by_steps_of(0.17, 10), no_clock, eddy::Rows{});
}

TEST_CASE("event gradients: sizes that a controller chooses are data, to within its tolerance") {
    SolveOptions options{.t1 = 3, .rtol = 1e-11, .atol = 1e-12, .save_at = {0.5, 1.45, 2.1, 3}};
    check_tangled<Tangled, eddy::Tsit5>(2e-8, options, no_clock);
    check_tangled<Tangled, eddy::Kvaerno5>(2e-8, options, no_clock, eddy::Rows{});
    options.t1 = 10;
    options.save_at = {};
    check_ended(2e-8, options, no_clock);
}

namespace {

/// Events at the very times of what steps end at, and of save points; f jumps at t = 1.
template <class Method, class... Extras>
void check_coincidences(SolveOptions options, const Extras&... extras) {
    const auto check = [&](const Clock& clock) {
        CAPTURE(clock.at, options.t1, options.save_at.values);
        check_tangled<Tangled, Method>(2e-8, options, clock, extras...);
    };
    options.jump_times = {1};
    options.save_at = {0.375, 2};
    check({0.375, Side::below});
    options.step_to = {0.375};
    check({0.375, Side::below});
    options.save_at = {};
    check({0.375, Side::below});
    check({1, Side::above});  // its function is asked before the jump alone, or behind it
    options.step_to = {};
    options.jump_times = {};
    options.t1 = 0.375;
    check({0.375, Side::below});
}

}  // namespace

TEST_CASE("event gradients: one at the time of a stop, a save point or the end comes before it") {
    check_coincidences<eddy::Tsit5>(by_steps_of(0.1875, 2));
    check_coincidences<eddy::Tsit5>(by_steps_of(0.1875, 2), eddy::Rows{});
    check_coincidences<eddy::Rodas5P>(by_steps_of(0.1875, 2), eddy::Rows{});
    check_coincidences<eddy::RK4>({.t1 = 2, .dt0 = 0.1875}, eddy::differentiate_times,
                                  eddy::Rows{});
}

TEST_CASE("event gradients: a lane that ends at a save point has its state; at t1 it ends there") {
    // The save point is dense output's, whose slope there is that of a step to the order of the method: 3e-9.
    SolveOptions options = by_steps_of(0.046875, 2);
    options.step_to = {0.375};
    options.jump_times = {1};
    options.save_at = {0.25, 0.375};
    check_ended(2e-8, options, Clock{0.375, Side::above});
    check_ended(2e-8, options, Clock{0.375, Side::above}, eddy::Rows{});
    options.save_at = {};
    options.t1 = 0.375;
    options.step_to = {};
    options.jump_times = {};
    check_ended(2e-8, options, Clock{0.375, Side::below});
    check_ended(2e-8, options, Clock{0.375, Side::below}, eddy::Rows{});
}

namespace {

/// The same behind a mass matrix.
struct Heavy : Tangled {
    static constexpr double mass[2][2] = {{2, 1}, {0, 4}};
    constexpr auto event(auto t, const auto& y, const auto& p) const {
        return Tangled::event(t, y, p);
    }
    constexpr auto at_event(auto t, const auto& y, const auto& p) const {
        return eddy::vec(y[0], -p[1] * y[1] + 0.5 * t);
    }
};

}  // namespace

TEST_CASE("event gradients: so are they behind a mass matrix") {
    SolveOptions options = by_steps_of(0.11, 15);
    options.save_at = {0.5, 3.1, 15};
    check_tangled<Heavy, eddy::Rodas5P>(5e-9, options, no_clock);
}

TEST_CASE("event gradients: backward in time, with derivatives with respect to times") {
    for (const double direction : {1., -1.}) {
        CAPTURE(direction);
        SolveOptions options{.t0 = 0.1,
                             .t1 = 0.1 + 1.3 * direction,
                             .save_at = {0.1 + 0.9 * direction, 0.1 + 1.3 * direction},
                             .dt0 = 0.07 * direction};
        const Array y0 = rows({{1, 0.5 * direction}}), p = rows({{2 * 4.905, 0.8, 0, 0}});
        const auto solve = [&](const SolveOptions& asked) {
            return solve_loss<Tangled>(eddy::RK4{}, of_state, y0, p, asked,
                                       eddy::differentiate_times, eddy::Rows{});
        };
        const auto result = solve(options);
        CHECK(result.report.stats(0).events == 2);
        const auto loss = [&](double by_t0, double by_t1) {
            SolveOptions moved = options;
            moved.t0 = options.t0 + by_t0;
            moved.t1 = options.t1 + by_t1;
            moved.save_at.values.back() = moved.t1;
            return solve(moved).loss(0);
        };
        const double h = 1e-5;
        CHECK(relative(result.gradient.t0(0), (loss(h, 0) - loss(-h, 0)) / (2 * h)) <= 1e-7);
        CHECK(relative(result.gradient.t1(0) + result.gradient.save_at(0, 1),
                       (loss(0, h) - loss(0, -h)) / (2 * h)) <= 1e-7);
    }
}

TEST_CASE("event gradients: where an event's function has no slope the lane fails, alone") {
    const Array y0 = rows({{1, 0}, {1, -60}, {0.5, 0}});
    const auto solve = [&](auto backend) {
        return solve_loss<Ended>(eddy::Tsit5{}, of_time, y0, eddy::shared(earth), until(10),
                                 backend);
    };
    const auto solution = eddy::solve(Ended{}, eddy::Tsit5{}, y0, eddy::shared(earth), until(10));
    CHECK(solution.result(1) == Result::event);
    CHECK(std::fabs(solution.event_t(1) - 2 / (60 + std::sqrt(3600 + 2 * 9.81))) <= 1e-14);
    double by_gravity = 0;
    for (const std::ptrdiff_t lane : {0, 2}) by_gravity -= solution.event_t(lane) / (2 * 9.81);
    for (const auto& result : {solve(eddy::Rows{}), solve(eddy::Cpu{})}) {
        CHECK(result.report.result(1) == Result::non_finite);
        CHECK(std::isnan(result.loss(1)));
        CHECK(result.gradient.y0(1, 0) == 0);
        for (const std::ptrdiff_t lane : {0, 2}) {
            const double time = std::sqrt(2 * y0(lane, 0) / 9.81);
            CHECK(result.report.result(lane) == Result::event);
            CHECK(std::fabs(result.loss(lane) - time) <= 1e-14);
            CHECK(std::fabs(result.gradient.y0(lane, 0) - 1 / (9.81 * time)) <= 1e-13);
        }
        CHECK(std::fabs(result.gradient.p(0, 0) - by_gravity) <= 1e-14);
    }
    const auto pulled = eddy::pullback(solution, rows({{1, 1}, {1, 1}, {1, 1}}));
    for (const std::ptrdiff_t lane : {0, 2})
        CHECK(std::fabs(pulled.y0(lane, 0) + std::sqrt(9.81 / (2 * y0(lane, 0)))) <= 1e-13);
    CHECK(std::isnan(pulled.y0(1, 0)));  // and never infinite
}

TEST_CASE("event gradients: save points behind the end bring exactly nothing") {
    SolveOptions options = until(3);
    const std::vector<double> p{2, 0, 0, 0};
    const auto solve = [&](const Array& y0, const eddy::Times& save_at) {
        options.save_at = save_at;
        return solve_loss<Ended>(eddy::Tsit5{}, of_state, y0, eddy::shared(p), options);
    };
    const auto with = solve(rows({{1, 0}}), {0.5, 2, 3}), without = solve(rows({{1, 0}}), {0.5}),
               far = solve(rows({{1, 0}, {1, 40}}), {0.5, 2, 3});

    CHECK(with.report.result(0) == Result::event);
    CHECK(std::fabs(with.loss(0) - (0.75 - 2)) <= 1e-12);
    CHECK(with.loss(0) == without.loss(0));
    CHECK(support::same_array(with.gradient.y0, without.gradient.y0));
    CHECK(support::same_array(with.gradient.p, without.gradient.p));
    CHECK(std::fabs(with.gradient.y0(0, 0) - 1) <= 1e-12);
    CHECK(far.gradient.y0(0, 0) == with.gradient.y0(0, 0));
    CHECK(std::fabs(far.gradient.y0(1, 1) - (0.5 + 2 + 3 + 6)) <= 1e-9);
}

TEST_CASE(
    "event gradients: pullback has those of the state where lanes end, and of what they share") {
    const Array y0 = rows({{1, 0.5}, {1.3, -0.2}, {0.7, 2}});
    const auto solution = eddy::solve(Ended{}, eddy::Tsit5{}, y0, eddy::shared(earth), until(10));
    const auto pulled = eddy::pullback(solution, rows({{1, 2}}));
    const auto of_loss =
        solve_loss<Ended>(eddy::Tsit5{}, of_state, y0, eddy::shared(earth), until(10));

    CHECK(support::same_array(pulled.y0, of_loss.gradient.y0));
    CHECK(support::same_array(pulled.p, of_loss.gradient.p));
    double wanted = 0;
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane)
        wanted -= 2 * y0(lane, 0) / std::sqrt(y0(lane, 1) * y0(lane, 1) + 2 * 9.81 * y0(lane, 0));
    CHECK(relative(pulled.p(0, 0), wanted) <= 1e-11);
}
