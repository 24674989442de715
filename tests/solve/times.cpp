// Time is careful: ends, save points and stops are met exactly, far from zero and over the shortest
// spans, in both directions; and derivatives with respect to times are those of the numbers
// computed.

#include <array>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <tuple>
#include <type_traits>
#include <vector>

#include "solve/problems.hpp"
#include "steppers/exact_problem.hpp"
#include "support/catch.hpp"

namespace {

using eddy::SolveOptions;
using support::Array;
using support::Forced;
using support::HalfSquares;
using support::rows;
using support::same_array;
using support::same_row;

/// (t, (t − p)²/2, exp t) up to constants: what clocks show.
struct Clocks {
    static constexpr int state_size = 3, parameter_size = 1;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(1 + 0 * y[0], t - p[0], y[2]);
    }
};
/// Grows at rate 1 before t = p and shrinks at rate 2 from there on.
struct Switch {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(eddy::select(t < p[0], y[0], -2 * y[0]));
    }
};

const eddy::Serial serial;
const Array forced_y0 = rows({{1, 0.5}}), forced_p = rows({{1.5, 2}});

auto solve_forced(const SolveOptions& options) {
    return eddy::solve(Forced{}, eddy::Tsit5{}, forced_y0, forced_p, options, serial);
}

/// The relative errors of the clocks after a solve from t0 to t1.
template <class Real>
std::array<double, 3> clocks_off(double t0, double t1) {
    const auto y0 = rows<Real>({{0, 0, 1}}), p = rows<Real>({{t0}});
    const auto solution = eddy::solve(
        Clocks{}, eddy::Bosh3{}, y0, p,
        {.t0 = t0, .t1 = t1, .rtol = std::is_same_v<Real, float> ? 1e-6 : 1e-8, .atol = 1e-12});
    eddy::require_success(solution);
    const double span = t1 - t0;
    return {support::relative_error(solution.y()(0, 0), span),
            support::relative_error(solution.y()(0, 1), span * span / 2),
            support::relative_error(solution.y()(0, 2), std::exp(span))};
}
/// In double, and in float but for what f makes of t, which is of the state's precision there.
void check_clocks(double t0, double t1) {
    const auto in_double = clocks_off<double>(t0, t1);
    const auto in_float = clocks_off<float>(t0, t1);
    // Stages cannot be told apart more finely than t is.
    const double ulp = std::nextafter(std::fabs(t0), 2e9) - std::fabs(t0);
    CAPTURE(t0, t1 - t0, in_double, in_float);
    CHECK(in_double[0] < 1e-13);  // a sum of up to 600 steps
    CHECK(in_double[1] < 1e-7 + ulp / std::fabs(t1 - t0));
    CHECK(in_double[2] < 1e-6);
    CHECK(in_float[0] < 1e-5);
    CHECK(in_float[2] < 1e-4);
}

/// The steps of lane 0 begin at t0, go one way, end at t1 and at each of the stops.
template <class Solution>
void check_steps(const Solution& solution, double t0, double t1, const std::vector<double>& stops) {
    const std::ptrdiff_t count = solution.num_steps(0);
    REQUIRE(count == solution.stats(0).accepted + 1);
    CHECK(solution.step_t(0, 0) == t0);
    CHECK(solution.step_t(0, count - 1) == t1);
    CHECK(solution.failure(0).t == t1);
    std::size_t stop = 0;
    bool goes_on = true;
    for (std::ptrdiff_t k = 0; k < count; ++k) {
        if (k > 0)
            goes_on = goes_on && (solution.step_t(0, k) > solution.step_t(0, k - 1)) == (t1 > t0);
        if (stop < stops.size() && solution.step_t(0, k) == stops[stop]) ++stop;
    }
    CHECK(goes_on);
    CHECK(stop == stops.size());
}

const Array origin = rows({{0, 0}});
const std::vector<Array> three_points(3, origin);

/// Central differences of the loss by a time that `at(x)` sets: x is what is added to it.
template <class Loss>
double slope(Loss at) {
    // The discretisation is the same on both sides: x²/6 times a third derivative, and round-off.
    const double x = 1e-5;
    return (at(x) - at(-x)) / (2 * x);
}

template <class Data, class... Extras>
auto with_times(const Data& data, const SolveOptions& options, const Extras&... extras) {
    return eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, HalfSquares{}, data, forced_y0,
                                    forced_p, options, eddy::differentiate_times, extras...);
}
/// Steps of constant size, so that differences see the same discretisation.
template <class Data>
auto constant_with_times(const Data& data, const SolveOptions& options) {
    return with_times(data, options, serial, eddy::ConstantController{});
}

}  // namespace

TEST_CASE("times: spans of 1e-12, 1e-6 and 10 at t = 0 and at t = 1") {
    for (const double span : {1e-12, -1e-12, 1e-6, -1e-6, 10., -10.}) {
        check_clocks(0, span);
        check_clocks(1, 1 + span);
    }
    CHECK(clocks_off<float>(0, 1e-12)[1] < 1e-6);
}

TEST_CASE("times: spans at |t| = 1e9, down to one unit in its last place") {
    for (const double span : {10., 0.125, 0x1p-23, -10., -0.125, -0x1p-23}) {
        check_clocks(1e9, 1e9 + span);
        check_clocks(-1e9, -1e9 + span);
    }
}

TEST_CASE("times: steps end exactly on t1 and on every time in step_to") {
    const auto check = [](double t0, double t1, const std::vector<double>& stops) {
        const auto solution =
            eddy::solve(Clocks{}, eddy::Bosh3{}, rows({{0, 0, 1}}), rows({{t0}}),
                        {.t0 = t0, .t1 = t1, .save_steps = true, .step_to = stops});
        CAPTURE(t0, t1);
        check_steps(solution, t0, t1, stops);
    };

    check(0.05, 1.7, {0.1, 0.3, 0.7, 1.1});
    check(1.7, 0.05, {1.1, 0.7, 0.3, 0.1});
    check(1e9, 1e9 + 0.9, {1e9 + 0.1, 1e9 + 1. / 3});
    check(-1e9 / 7, -1e9 / 7 + 1. / 3, {});
    // t1 − t0 is rounded, where one must land is not.
    check(1. / 3, -10.1, {0.1, 1e-17, -0.7});
    check(-1. / 3, 1e-300, {-1e-3, -1e-12});  // closer ones are one time, seen from t0
}

TEST_CASE("times: integration forward and backward returns to the start") {
    const SolveOptions tight{.t0 = 0.5, .t1 = 4, .rtol = 1e-11, .atol = 1e-13};
    const auto ahead = solve_forced(tight);
    const Array end(ahead.y());
    const auto back = eddy::solve(
        Forced{}, eddy::Tsit5{}, end, forced_p,
        {.t0 = 4, .t1 = 0.5, .rtol = 1e-11, .atol = 1e-13, .save_at = {4, 0.5}}, serial);

    CHECK(same_row(back.y(0), 0, end, 0));
    for (int i = 0; i < 2; ++i) {
        CHECK(std::fabs(end(0, i) - forced_y0(0, i)) > 0.1);
        CHECK(std::fabs(back.y(1)(0, i) - forced_y0(0, i)) < 1e-9);
    }
}

TEST_CASE("times: steps of constant size backward") {
    const SolveOptions accurate{.t0 = 2, .t1 = 0.5, .rtol = 1e-11, .atol = 1e-13};
    const auto back =
        eddy::solve(Forced{}, eddy::Bosh3{}, forced_y0, forced_p,
                    {.t0 = 2, .t1 = 0.5, .dt0 = -0.01}, serial, eddy::ConstantController{});
    const Array wanted(solve_forced(accurate).y());

    // 150 steps with errors of a few 0.01⁴.
    for (int i = 0; i < 2; ++i) CHECK(std::fabs(back.y()(0, i) - wanted(0, i)) < 1e-6);
}

TEST_CASE("times: save points at both ends and twice at the same time") {
    const auto solution = solve_forced({.t0 = 1, .t1 = 3, .save_at = {1, 1, 1.7, 1.7, 3, 3}});
    const auto end = solve_forced({.t0 = 1, .t1 = 3});

    REQUIRE(solution.num_saves() == 6);
    CHECK(same_row(solution.y(0), 0, forced_y0, 0));
    for (int k = 0; k < 6; k += 2) CHECK(same_array(solution.y(k), solution.y(k + 1)));
    CHECK(same_array(solution.y(4), end.y()));
    CHECK(solution.t(2) == 1.7);
    CHECK(solution.stats(0).accepted == end.stats(0).accepted);  // interpolated
}

TEST_CASE("times: save points in step_to are states of steps, the others are interpolated") {
    const auto stepped =
        solve_forced({.t1 = 3, .save_at = {0.7, 1.7}, .save_steps = true, .step_to = {0.7}});

    bool first = false, second = false;
    for (std::ptrdiff_t k = 0; k < stepped.num_steps(0); ++k) {
        const auto same = [&](int point) {
            return stepped.step_y(0, k, 0) == stepped.y(point)(0, 0) &&
                   stepped.step_y(0, k, 1) == stepped.y(point)(0, 1);
        };
        first = first || (stepped.step_t(0, k) == 0.7 && same(0));
        second = second || same(1);
    }
    CHECK(first);
    CHECK_FALSE(second);
    const auto accurate = solve_forced({.t1 = 1.7, .rtol = 1e-12, .atol = 1e-13});
    CHECK(std::fabs(stepped.y(1)(0, 0) - accurate.y()(0, 0)) < 1e-5);
}

TEST_CASE("times: every accepted step is there, the states included") {
    const auto solution = solve_forced({.t1 = 2, .save_steps = true});
    const std::ptrdiff_t last = solution.num_steps(0) - 1;

    check_steps(solution, 0, 2, {});
    CHECK(last > 5);
    for (int i = 0; i < 2; ++i) {
        CHECK(solution.step_y(0, 0, i) == forced_y0(0, i));
        CHECK(solution.step_y(0, last, i) == solution.y()(0, i));
    }
    const auto half_way = solve_forced({.t1 = solution.step_t(0, last / 2), .rtol = 1e-12});
    CHECK(std::fabs(solution.step_y(0, last / 2, 0) - half_way.y()(0, 0)) < 1e-5);
    CHECK(solve_forced({.t1 = 2}).num_steps(0) == 0);
}

TEST_CASE("times: the first step has the size asked for and none is larger than dt_max") {
    const auto solution = solve_forced({.t1 = 2, .save_steps = true, .dt0 = 0.001, .dt_max = 0.05});
    const auto free = solve_forced({.t1 = 2, .save_steps = true});
    const auto largest = [](const auto& of) {
        double size = 0;
        for (std::ptrdiff_t k = 1; k < of.num_steps(0); ++k)
            size = std::max(size, of.step_t(0, k) - of.step_t(0, k - 1));
        return size;
    };

    CHECK(solution.step_t(0, 1) == 0.001);
    // A step that lands may be stretched by a hundredth.
    CHECK(largest(solution) <= 0.05 * 1.01 * (1 + 1e-14));
    CHECK(largest(solution) >= 0.05 * (1 - 1e-14));
    CHECK(largest(free) > 0.1);
}

TEST_CASE("times: an empty span returns the start, and the cotangents as gradient") {
    const Array data = rows({{0.25, 0.75}});
    const SolveOptions options{.t0 = 3, .t1 = 3, .save_at = {3, 3}};
    const std::vector<Array> twice(2, data);

    const auto solution = solve_forced(options);
    const auto serially = constant_with_times(twice, options);
    const auto packed = with_times(twice, options);

    CHECK(solution.success());
    CHECK(solution.stats(0).accepted == 0);
    CHECK(same_row(solution.y(0), 0, forced_y0, 0));
    CHECK(same_row(solution.y(1), 0, forced_y0, 0));
    for (const auto* result : {&serially, &packed}) {
        for (int i = 0; i < 2; ++i) {
            CHECK(result->gradient.y0(0, i) == 2 * (forced_y0(0, i) - data(0, i)));
            CHECK(result->gradient.p(0, i) == 0);
        }
        CHECK(result->report.success());
    }
    CHECK(solve_forced({.t0 = 3, .t1 = 3}).y()(0, 1) == forced_y0(0, 1));
}

TEST_CASE("times: a jump in f keeps the order of the method where it is told, else not") {
    const double jump = 0.537;
    const double end = std::exp(jump - 2 * (1 - jump));
    const auto slope_of_errors = [&](const eddy::Times& jumps) {
        std::vector<support::ErrorAt> points;
        for (double dt = 0.05; dt > 0.003; dt /= 2) {
            const auto solution = eddy::solve(Switch{}, eddy::Bosh3{}, rows({{1}}), rows({{jump}}),
                                              {.t1 = 1, .jump_times = jumps, .dt0 = dt}, serial,
                                              eddy::ConstantController{});
            points.push_back({dt, std::fabs(solution.y()(0, 0) - end)});
        }
        return support::fitted_slope(points);
    };

    CHECK(std::fabs(slope_of_errors({jump}) - 3) < 0.2);
    CHECK(slope_of_errors({}) < 1.5);
}

TEST_CASE("times: a long run of constant steps is as exact as a plain loop") {
    constexpr int count = 100'000;
    const double t1 = 20, dt = t1 / count;
    for (const double stop : {t1, 6.66}) {  // after a stop that is no multiple, steps begin anew
        SolveOptions options{.t1 = t1, .save_steps = true, .dt0 = dt, .max_steps = 2 * count};
        if (stop < t1) options.step_to = {stop};
        const auto solution = eddy::solve(Forced{}, eddy::Bosh3{}, forced_y0, forced_p, options,
                                          serial, eddy::ConstantController{});
        double off = 0, smallest = dt;
        for (std::ptrdiff_t k = 1; k < solution.num_steps(0); ++k) {
            const double before = solution.step_t(0, k - 1), t = solution.step_t(0, k);
            const double from = before < stop ? 0 : stop;
            const double wanted = from + std::round((t - from) / dt) * dt;
            if (t != stop && t != t1) off = std::max(off, std::fabs(t - wanted));
            smallest = std::min(smallest, t - before);
        }
        CHECK(off < 2e-14);  // the rounding of one time, not of thousands
        CHECK(smallest > 0.005 * dt);
        if (stop < t1) continue;
        CHECK(solution.num_steps(0) == count + 1);

        using Step = eddy::ExplicitRungeKutta<Forced, eddy::Bosh3>;
        eddy::Vec<double, 2> y{{1, 0.5}};
        const eddy::Vec<double, 2> p{{1.5, 2}};
        for (int k = 0; k < count; ++k) y = Step::step(k * dt, y, p, dt);
        for (int i = 0; i < 2; ++i) CHECK(std::fabs(solution.y()(0, i) - y[i]) < 1e-12);
    }
}

TEST_CASE("times: a step cut short to land says nothing to the controller") {
    const auto attempts = [&](int stops, const auto&... controller) {
        SolveOptions options{.t1 = 20};
        for (int k = 1; k < stops; ++k) options.step_to.values.push_back(20. * k / stops);
        const auto stats = eddy::solve(support::LotkaVolterra{}, eddy::Tsit5{}, rows({{1, 1}}),
                                       rows({{1.5, 1, 3, 1}}), options, serial, controller...)
                               .stats(0);
        return stats.accepted + stats.rejected;
    };

    const auto without = attempts(0);
    CHECK(without < 230);
    CHECK(attempts(30) < without + 30);
    CHECK(attempts(100) < without + 50);  // was + 127: the step after a cut one was half as long
    CHECK(attempts(100) <= attempts(100, eddy::i_controller()));
    CHECK(attempts(1000) <= 1000 + 20);
}

TEST_CASE("times: f is asked on either side of a jump, forward and backward") {
    const double jump = 0.537;
    const auto end_error = [&](double t0, double t1, const eddy::Times& jumps) {
        const auto solution = eddy::solve(
            Switch{}, eddy::Bosh3{}, rows({{1}}), rows({{jump}}),
            {.t0 = t0, .t1 = t1, .rtol = 1e-9, .save_at = {jump, t1}, .jump_times = jumps}, serial);
        const auto log_y = [&](double t) { return t < jump ? t - jump : -2 * (t - jump); };
        CHECK(std::fabs(solution.y(0)(0, 0) - std::exp(-log_y(t0))) < 1e-7);
        CHECK(std::fabs(solution.y(1)(0, 0) - std::exp(log_y(t1) - log_y(t0))) < 1e-7);
        return solution.stats(0).rejected;
    };

    for (const double begin : {0., 1.}) {
        const auto told = end_error(begin, 1 - begin, {jump});
        const auto untold = end_error(begin, 1 - begin, {});
        CAPTURE(begin, told, untold);
        CHECK(untold > told + 4);  // the controller feels its way to a jump
    }
}

TEST_CASE(
    "times: derivatives with respect to t0, t1 and save times are differences of the numbers "
    "computed") {
    const std::vector<double> ahead{0.77, 1.234, 2.018}, back{-0.123, -0.9, -1.23};
    for (const auto& [t0, t1, saves, stop] :
         {std::tuple{0.301, 2.3037, ahead, 1.0}, std::tuple{0.301, -1.7, back, -0.555}}) {
        const auto options = [&, t0 = t0, t1 = t1, saves = saves, stop = stop](
                                 double x0, double x1, double save, std::size_t k) {
            SolveOptions o{.t0 = t0 + x0, .t1 = t1 + x1, .save_at = saves, .step_to = {stop}};
            o.save_at.values[k] += save;
            o.dt0 = t1 > t0 ? 0.01 : -0.01;
            return o;
        };
        const auto loss = [&](const SolveOptions& o) {
            return constant_with_times(three_points, o).loss.total;
        };
        const auto result = constant_with_times(three_points, options(0, 0, 0, 0));
        CAPTURE(t0, t1);
        CHECK(std::fabs(result.gradient.t0(0) -
                        slope([&](double x) { return loss(options(x, 0, 0, 0)); })) < 1e-8);
        CHECK(result.gradient.t1(0) == 0);  // nothing is saved there
        for (std::size_t k = 0; k < 3; ++k) {
            const double by_save = result.gradient.save_at(0, static_cast<std::ptrdiff_t>(k));
            CHECK(std::fabs(by_save - slope([&](double x) { return loss(options(0, 0, x, k)); })) <
                  1e-8);
            CHECK(std::fabs(by_save) > 1e-3);
        }
    }
}

TEST_CASE("times: derivatives with respect to both ends, and to save times that are stepped to") {
    const auto ends = [&](double x0, double x1) {
        return constant_with_times(origin, {.t0 = 0.301 + x0, .t1 = 2.3037 + x1, .dt0 = 0.01});
    };
    const auto result = ends(0, 0);
    CHECK(std::fabs(result.gradient.t0(0) -
                    slope([&](double x) { return ends(x, 0).loss.total; })) < 1e-8);
    CHECK(std::fabs(result.gradient.t1(0) -
                    slope([&](double x) { return ends(0, x).loss.total; })) < 1e-8);
    CHECK(result.gradient.save_at.cols() == 0);

    const auto stepped = [&](double x, int which) {
        const double at = 1.5033 + (which == 0 ? x : 0), t1 = 2.3037 + (which == 1 ? x : 0);
        const double t0 = 0.301 + (which == 2 ? x : 0);
        return constant_with_times(
            three_points,
            {.t0 = t0, .t1 = t1, .save_at = {t0, at, t1}, .step_to = {at}, .dt0 = 0.01});
    };
    const auto& gradient = stepped(0, 3).gradient;
    CHECK(std::fabs(gradient.save_at(0, 1) -
                    slope([&](double x) { return stepped(x, 0).loss.total; })) < 1e-8);
    // A save point that lies on an end moves with it: both derivatives together.
    CHECK(std::fabs(gradient.t1(0) + gradient.save_at(0, 2) -
                    slope([&](double x) { return stepped(x, 1).loss.total; })) < 1e-8);
    CHECK(std::fabs(gradient.t0(0) + gradient.save_at(0, 0) -
                    slope([&](double x) { return stepped(x, 2).loss.total; })) < 1e-8);
}

TEST_CASE("times: a save point where a step happens to end moves with t0, and t1 does not matter") {
    const auto at = [&](double x0, double x1, double x, const auto& backend) {
        return with_times(
            std::vector<Array>(2, origin),
            {.t0 = 0.5 + x0, .t1 = 2.5 + x1, .save_at = {1 + x, 1.28125}, .dt0 = 0.0625}, backend,
            eddy::ConstantController{});
    };
    const auto loss = [&](double x0, double x1, double x) {
        return at(x0, x1, x, serial).loss.total;
    };
    const auto check = [&](const auto& backend) {
        const auto& gradient = at(0, 0, 0, backend).gradient;
        CHECK(gradient.t1(0) == 0);
        // Another interpolant lies to either side: the differences are means of two slopes.
        CHECK(std::fabs(gradient.t0(0) - slope([&](double x) { return loss(x, 0, 0); })) < 1e-6);
        CHECK(std::fabs(gradient.save_at(0, 0) - slope([&](double x) { return loss(0, 0, x); })) <
              1e-6);
        CHECK(std::fabs(gradient.save_at(0, 0)) > 0.1);
    };
    check(serial);
    check(eddy::Cpu{.threads = 1});
}

TEST_CASE("times: derivatives of an adaptive solve are those of the trajectory") {
    const SolveOptions options{.t0 = 0.3, .t1 = 2.3, .rtol = 1e-9, .atol = 1e-11};
    const auto result = with_times(origin, options);
    const Array y(solve_forced({.t0 = 0.3, .t1 = 2.3, .rtol = 1e-11, .atol = 1e-13}).y());
    const auto field = [](double t, const auto& state, int i) {
        return i == 0 ? 1.5 * state(0, 1) + 0.3 * t
                      : -2 * state(0, 0) - 0.1 * (t * state(0, 1) * state(0, 0));
    };

    // dL/dt1 = ∂L/∂y · f(t1, y1), and dL/dt0 = −∂L/∂y0 · f(t0, y0).
    double by_t1 = 0, by_t0 = 0;
    for (int i = 0; i < 2; ++i) {
        by_t1 += y(0, i) * field(2.3, y, i);
        by_t0 -= result.gradient.y0(0, i) * field(0.3, forced_y0, i);
    }
    CHECK(std::fabs(result.gradient.t1(0) - by_t1) < 1e-6);
    CHECK(std::fabs(result.gradient.t0(0) - by_t0) < 1e-6);
    CHECK(std::fabs(by_t0) > 0.01);
    CHECK(std::fabs(by_t1) > 0.01);
}
