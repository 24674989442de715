// Gradients through events: of the time at which a lane ends, of states behind bounces, against what is known
// exactly; and of steps of constant size against differences of the numbers themselves.

#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solvers/kvaerno5.hpp>
#include <eddy/solvers/rk4.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/taylor.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <vector>

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

const Array thrown = rows({{1, 0.5}, {1.3, -0.2}, {0.7, 2}, {0.1, 3}});
const Array balls = rows({{9.81, 0.8}, {9.81, 0.75}, {3.7, 0.9}, {1.6, 0.7}});

struct Weighted {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] + 2 * y[1]; }
};
/// The time itself.
struct When {
    constexpr auto operator()(auto t, const auto& y, const auto&) const { return t + 0 * y[0]; }
};

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
/// With respect to y0 and p of a lane.
template <class Gradient>
double part(const Gradient& gradient, std::ptrdiff_t lane, int k) {
    return k < 2 ? gradient.y0(lane, k) : gradient.p(lane, k - 2);
}

/// Gradients of where balls are at save points.
template <class Method, class... Extras>
void check_balls(const Method& method, double tolerance, const SolveOptions& options,
                 const Extras&... extras) {
    const auto [loss, gradient, report] =
        eddy::value_and_gradient(Ball{}, method, Weighted{}, thrown, balls, options, extras...);
    require_success(report);
    std::int64_t most = 0;
    for (std::ptrdiff_t lane = 0; lane < thrown.rows(); ++lane) {
        const long double x[4] = {thrown(lane, 0), thrown(lane, 1), balls(lane, 0), balls(lane, 1)};
        for (int k = 0; k < 4; ++k) {
            CAPTURE(lane, k);
            const auto wanted = [&](const long double(&of)[4]) {
                long double sum = 0;
                std::vector<double> times = options.save_at.values;
                if (times.empty()) times = {options.t1};
                for (const double t : times) {
                    // As often as the lane itself: the ball of a difference goes on below the ground.
                    const Flight<double> here(thrown(lane, 0), thrown(lane, 1), balls(lane, 0),
                                              balls(lane, 1), t);
                    const Flight<long double> there(of[0], of[1], of[2], of[3], t, here.bounces);
                    sum += there.y + 2 * there.v;
                }
                return sum;
            };
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
        if (saves) options.save_at = {0, 0.1, 0.8, 1.5, 2.75};
        check_balls(eddy::Tsit5{}, 1e-10, options);
        check_balls(eddy::Tsit5{}, 1e-10, options, eddy::Serial{});
        if (saves) continue;
        check_balls(eddy::Rodas5P{}, 1e-10, options);
        check_balls(eddy::Kvaerno5{}, 1e-10, options);
        check_balls(eddy::Taylor<12>{}, 1e-10, options);
        options.rtol = 0.1;  // the steps of a parabola are exact whatever their sizes
        options.atol = 0.1;
        check_balls(eddy::Tsit5{}, 1e-10, options);
    }
    SolveOptions options{.t1 = 2.75, .dt0 = 0.013};
    check_balls(eddy::RK4{}, 1e-10, options);
    check_balls(eddy::RK4{}, 1e-10, options, eddy::Serial{});
}

TEST_CASE("event gradients: the time at which a lane ends has one, and so has the state there") {
    // t = (v + √(v² + 2 g y)) / g; v there −√(v² + 2 g y).
    for (const bool on_serial : {true, false}) {
        const auto solve = [&](const auto& loss) {
            return on_serial ? eddy::value_and_gradient(Drop{}, eddy::Tsit5{}, loss, thrown, balls,
                                                        until(10), eddy::Serial{})
                             : eddy::value_and_gradient(Drop{}, eddy::Tsit5{}, loss, thrown, balls,
                                                        until(10));
        };
        const auto when = solve(When{}), where = solve(Weighted{});
        for (std::ptrdiff_t lane = 0; lane < thrown.rows(); ++lane) {
            CAPTURE(lane);
            const double y = thrown(lane, 0), v = thrown(lane, 1), g = balls(lane, 0);
            const double speed = std::sqrt(v * v + 2 * g * y), time = (v + speed) / g;
            CHECK(when.report.result(lane) == Result::event);
            CHECK(relative(when.loss(lane), time) <= 1e-13);
            CHECK(relative(when.gradient.y0(lane, 0), 1 / speed) <= 1e-12);
            CHECK(relative(when.gradient.y0(lane, 1), (1 + v / speed) / g) <= 1e-12);
            CHECK(relative(when.gradient.p(lane, 0), y / (g * speed) - time / g) <= 1e-12);
            CHECK(when.gradient.p(lane, 1) == 0);
            CHECK(relative(where.loss(lane), -2 * speed) <= 1e-12);
            CHECK(relative(where.gradient.y0(lane, 0), -2 * g / speed) <= 1e-11);
            CHECK(relative(where.gradient.y0(lane, 1), -2 * v / speed) <= 1e-11);
            CHECK(relative(where.gradient.p(lane, 0), -2 * y / speed) <= 1e-11);
        }
    }
}

namespace {

/// Everything depends on everything: time, state, parameters, in f, in the event and in the jump.
struct Tangled {
    static constexpr int state_size = 2, parameter_size = 3;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(y[1] + 0.1 * p[2] * t, -p[0] - 0.3 * p[2] * y[1] * y[0] + 0.2 * t);
    }
    constexpr auto event(auto t, const auto& y, const auto& p) const {
        return y[0] - 0.1 * p[1] * t - 0.05 * y[1] * y[1] * p[2] + 0.02;
    }
    static constexpr auto event_direction = eddy::Crossing::falling;
    constexpr auto at_event(auto t, const auto& y, const auto& p) const {
        return eddy::vec(y[0] + 0.3 + 0.1 * t * p[1], -p[2] * y[1] + 0.5 * y[0] * t);
    }
};
struct Sum {
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return (1 + 0.2 * t) * y[0] * y[0] + 0.7 * y[1] * p[2] + 0.3 * t * p[0];
    }
};
const Array tangled_y0 = rows({{1, 0.5}, {1.3, -0.2}, {0.7, 1}}),
            tangled_p = rows({{2, 0.8, 0.7}, {3, 0.6, 0.9}, {2.5, 1.1, 0.5}});

/// The same to the first event.
template <class Field>
struct EndsThere {
    static constexpr int state_size = 2, parameter_size = 3;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return Field{}(t, y, p);
    }
    constexpr auto event(auto t, const auto& y, const auto& p) const {
        return Field{}.event(t, y, p);
    }
};

/// Of the losses as they are computed: steps of constant size are those of all lanes nearby.
template <class Field, class Method, class... Extras>
void check_differences(double tolerance, const SolveOptions& options, const Extras&... extras) {
    const auto result = eddy::value_and_gradient(Field{}, Method{}, Sum{}, tangled_y0, tangled_p,
                                                 options, extras...);
    require_success(result.report);
    CHECK(result.report.total_stats().events >= 3);
    for (int k = 0; k < 5; ++k) {
        const auto loss = [&](double by) {
            Array y0 = tangled_y0, p = tangled_p;
            for (std::ptrdiff_t lane = 0; lane < 3; ++lane)
                (k < 2 ? y0(lane, k) : p(lane, k - 2)) += by;
            return eddy::value_and_gradient(Field{}, Method{}, Sum{}, y0, p, options, extras...)
                .loss;
        };
        const double h = 1e-4;
        const auto a = loss(h), b = loss(-h), c = loss(2 * h), d = loss(-2 * h);
        for (std::ptrdiff_t lane = 0; lane < 3; ++lane) {
            CAPTURE(lane, k);
            const double slope = (8 * (a(lane) - b(lane)) - (c(lane) - d(lane))) / (12 * h);
            CHECK(relative(part(result.gradient, lane, k), slope) <= tolerance);
        }
    }
}

}  // namespace

TEST_CASE("event gradients: they are those of the numbers computed, by steps of any accuracy") {
    // Steps far too large for the equation: their own derivatives by their sizes are what counts.
    SolveOptions options{.t1 = 3, .save_at = {0.5, 1.45, 2.1, 3}, .dt0 = 0.17};
    check_differences<Tangled, eddy::RK4>(2e-9, options);
    check_differences<Tangled, eddy::RK4>(2e-9, options, eddy::Serial{});
    check_differences<Tangled, eddy::Tsit5>(2e-9, options, eddy::ConstantController{});
    check_differences<Tangled, eddy::Rodas5P>(2e-9, options, eddy::ConstantController{});
    options.save_at = {};
    options.step_to = {1.1};
    check_differences<Tangled, eddy::RK4>(2e-9, options);
    options.t1 = 10;
    check_differences<EndsThere<Tangled>, eddy::RK4>(2e-9, options);
    check_differences<EndsThere<Tangled>, eddy::RK4>(2e-9, options, eddy::Serial{});
}

namespace {

/// The same behind a mass matrix.
struct Heavy : Tangled {
    static constexpr double mass[2][2] = {{2, 1}, {0, 4}};
    constexpr auto event(auto t, const auto& y, const auto& p) const {
        return Tangled::event(t, y, p);
    }
    constexpr auto at_event(auto t, const auto& y, const auto& p) const {
        return eddy::vec(y[0], -p[2] * y[1] + 0.5 * t);
    }
};

}  // namespace

TEST_CASE("event gradients: so are they behind a mass matrix") {
    const SolveOptions options{.t1 = 15, .save_at = {0.5, 3.1, 15}, .dt0 = 0.11};
    check_differences<Heavy, eddy::Rodas5P>(5e-9, options, eddy::ConstantController{});
}

TEST_CASE("event gradients: sizes that a controller chooses are data, to within its tolerance") {
    SolveOptions options{.t1 = 3, .rtol = 1e-11, .atol = 1e-12, .save_at = {0.5, 1.45, 2.1, 3}};
    check_differences<Tangled, eddy::Tsit5>(2e-8, options);
    options.t1 = 10;
    options.save_at = {};
    check_differences<EndsThere<Tangled>, eddy::Tsit5>(2e-8, options);
}

TEST_CASE("event gradients: backward in time, with derivatives with respect to times") {
    for (const double direction : {1., -1.}) {
        CAPTURE(direction);
        SolveOptions options{.t0 = 0.1,
                             .t1 = 0.1 + 1.3 * direction,
                             .save_at = {0.1 + 0.9 * direction, 0.1 + 1.3 * direction},
                             .dt0 = 0.07 * direction};
        const Array y0 = rows({{1, 0.5 * direction}}), p = rows({{2 * 4.905, 0.8}});
        const auto result = eddy::value_and_gradient(Ball{}, eddy::RK4{}, Weighted{}, y0, p,
                                                     options, eddy::differentiate_times);
        CHECK(result.report.stats(0).events == 2);
        const auto loss = [&](double by_t0, double by_t1) {
            SolveOptions moved = options;
            moved.t0 += by_t0;
            moved.t1 += by_t1;
            moved.save_at.values.back() = moved.t1;
            return eddy::value_and_gradient(Ball{}, eddy::RK4{}, Weighted{}, y0, p, moved).loss(0);
        };
        const double h = 1e-5;
        CHECK(relative(result.gradient.t0(0), (loss(h, 0) - loss(-h, 0)) / (2 * h)) <= 1e-7);
        CHECK(relative(result.gradient.t1(0) + result.gradient.save_at(0, 1),
                       (loss(0, h) - loss(0, -h)) / (2 * h)) <= 1e-7);
    }
}

namespace {

/// The event's function steps over zero, so that nothing says how its time depends on anything; or, in lanes
/// with p = 0, does not.
struct Step {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        return eddy::vec(0 * y[0] + 1);
    }
    constexpr auto event(auto, const auto& y, const auto& p) const {
        return eddy::select(p[0] > 0, eddy::select(y[0] < 1, -1 + 0 * y[0], 1 + 0 * y[0]),
                            y[0] - 1);
    }
};

}  // namespace

TEST_CASE("event gradients: where an event's function has no slope the lane fails, alone") {
    const Array y0 = rows({{0.5}, {0.25}, {0.5}}), p = rows({{0}, {1}, {0}});
    const auto solve = [&](auto backend) {
        return eddy::value_and_gradient(Step{}, eddy::Tsit5{}, When{}, y0, p, until(10), backend);
    };
    const auto solved = eddy::solve(Step{}, eddy::Tsit5{}, y0, p, until(10));
    CHECK(solved.result(1) == Result::event);
    CHECK(std::fabs(solved.event_t(1) - 0.75) <= 1e-14);
    for (const auto& result : {solve(eddy::Serial{}), solve(eddy::Cpu{})}) {
        CHECK(result.report.result(1) == Result::non_finite);
        CHECK(std::isnan(result.loss(1)));
        CHECK(result.gradient.y0(1, 0) == 0);
        for (const std::ptrdiff_t lane : {0, 2}) {
            CHECK(result.report.result(lane) == Result::event);
            CHECK(std::fabs(result.loss(lane) - 0.5) <= 1e-14);
            CHECK(std::fabs(result.gradient.y0(lane, 0) + 1) <= 1e-14);
        }
    }
}

TEST_CASE("event gradients: in a pullback it is no number, alone, and never infinite") {
    const Array y0 = rows({{0.5}, {0.25}, {0.5}}), p = rows({{0}, {1}, {0}});
    const auto solution = eddy::solve(Step{}, eddy::Tsit5{}, y0, p, until(10));
    const auto pulled = eddy::pullback(solution, rows({{1}, {1}, {1}}));
    for (const std::ptrdiff_t lane : {0, 2}) CHECK(std::fabs(pulled.y0(lane, 0)) <= 1e-14);
    CHECK(std::isnan(pulled.y0(1, 0)));
}

TEST_CASE("event gradients: save points behind the end bring exactly nothing") {
    SolveOptions options = until(3);
    const Array y0 = rows({{1, 0}, {1, 100}}), p = rows({{2, 0}, {2, 0}});
    options.save_at = {0.5, 2, 3};
    const auto with = eddy::value_and_gradient(Drop{}, eddy::Tsit5{}, Weighted{}, y0, p, options);
    options.save_at = {0.5};
    options.step_to = {};
    const auto without =
        eddy::value_and_gradient(Drop{}, eddy::Tsit5{}, Weighted{}, y0, p, options);

    CHECK(with.report.result(0) == Result::event);
    CHECK(std::fabs(with.loss(0) - (0.75 - 2)) <= 1e-12);
    CHECK(with.loss(0) == without.loss(0));
    for (int i = 0; i < 2; ++i) {
        CHECK(with.gradient.y0(0, i) == without.gradient.y0(0, i));
        CHECK(with.gradient.p(0, i) == without.gradient.p(0, i));
    }
    CHECK(std::fabs(with.gradient.y0(0, 0) - 1) <= 1e-12);
    CHECK(std::fabs(with.gradient.y0(1, 1) - (0.5 + 2 + 3 + 6)) <= 1e-9);
}

TEST_CASE(
    "event gradients: pullback has those of the state where lanes end, and of shared parameters") {
    const Array y0 = rows({{1, 0.5}, {1.3, -0.2}, {0.7, 2}});
    const std::vector<double> gravity{9.81, 0.8};
    const auto solution = eddy::solve(Drop{}, eddy::Tsit5{}, y0, eddy::shared(gravity), until(10));
    const auto pulled = eddy::pullback(solution, rows({{1, 2}}));
    const auto of_loss = eddy::value_and_gradient(Drop{}, eddy::Tsit5{}, Weighted{}, y0,
                                                  eddy::shared(gravity), until(10));

    CHECK(support::same_array(pulled.y0, of_loss.gradient.y0));
    CHECK(support::same_array(pulled.p, of_loss.gradient.p));
    double wanted = 0;
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane)
        wanted -= 2 * y0(lane, 0) / std::sqrt(y0(lane, 1) * y0(lane, 1) + 2 * 9.81 * y0(lane, 0));
    CHECK(relative(pulled.p(0, 0), wanted) <= 1e-11);
}
