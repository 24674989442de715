// Events over rows beside those of the oracle.

#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/runtime.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/kencarp4.hpp>
#include <eddy/solvers/kvaerno3.hpp>
#include <eddy/solvers/kvaerno5.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/rosenbrock23.hpp>
#include <eddy/solvers/trbdf2.hpp>
#include <vector>
#include "support/catch.hpp"
#include "support/message_of.hpp"
#include "support/same_bits.hpp"
#include "support/uneven_lanes.hpp"

namespace {

using eddy::EnsembleArray;
using eddy::SolveOptions;

/// A ball between a floor that throws it back and walls, of which the second ends its way; y = (x, height, speeds).
struct Boxed {
    static constexpr int state_size = 4, parameter_size = 2;
    constexpr auto operator()(const auto& t, const auto& y, const auto& p) const {
        return eddy::vec(y[2], y[3], -0.1 * t * y[2], -p[0]);
    }
    constexpr auto event(const auto& t, const auto& y, const auto& p) const {
        return eddy::vec(y[1], y[0], 1.9 + 0.5 * p[1] + 0.1 * t - y[0]);
    }
    static constexpr auto event_direction = eddy::Crossing::falling;
    static constexpr bool event_terminal[] = {false, false, true};
    constexpr auto at_event(const auto& t, const auto& y, const auto& p, auto index) const {
        if constexpr (index == 0)
            return eddy::vec(y[0], 0.0, y[2], -p[1] * y[3]);
        else
            return eddy::vec(0.0, y[1], -y[2] - 0.1 * t * y[2], y[3]);
    }
};
template <class Real = double>
EnsembleArray<Real> starts(std::ptrdiff_t lanes) {
    EnsembleArray<Real> y0(lanes, 4);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        const auto part = static_cast<Real>(lane % 7);
        y0(lane, 0) = Real(0.3) + Real(0.1) * part;
        y0(lane, 1) = lane == 2 ? Real(0) : 1 + Real(0.05) * part;
        y0(lane, 2) = (lane % 2 == 0 ? 1 : -1) * (Real(0.3) + Real(0.2) * part);
        y0(lane, 3) = lane == 2 ? Real(3) : Real(0.1) * part;
    }
    return y0;
}
template <class Real = double>
EnsembleArray<Real> parameters(std::ptrdiff_t lanes) {
    EnsembleArray<Real> p(lanes, 2);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        p(lane, 0) = Real(9.81);
        p(lane, 1) = Real(0.7) + Real(0.03) * static_cast<Real>(lane % 5);
    }
    return p;
}
/// All that is told of each lane, and all that is saved, bit for bit.
void check_same(const auto& rows, const auto& oracle) {
    REQUIRE(rows.num_lanes() == oracle.num_lanes());
    REQUIRE(rows.num_saves() == oracle.num_saves());
    for (std::ptrdiff_t lane = 0; lane < oracle.num_lanes(); ++lane) {
        CAPTURE(lane);
        CHECK(rows.result(lane) == oracle.result(lane));
        CHECK(rows.stats(lane).events == oracle.stats(lane).events);
        CHECK(rows.stats(lane).accepted == oracle.stats(lane).accepted);
        CHECK(rows.stats(lane).rejected == oracle.stats(lane).rejected);
        CHECK(rows.stats(lane).evaluations == oracle.stats(lane).evaluations);
        CHECK(rows.event_index(lane) == oracle.event_index(lane));
        CHECK(support::same_bits(rows.event_t(lane), oracle.event_t(lane)));
        for (std::ptrdiff_t k = 0; k < oracle.num_saves(); ++k)
            for (std::ptrdiff_t c = 0; c < oracle.y(k).cols(); ++c)
                CHECK(support::same_bits(rows.y(k)(lane, c), oracle.y(k)(lane, c)));
    }
}
template <class Method, class Real, class Field, class... Extras>
void check_of(const Field& field, const EnsembleArray<Real>& y0, const EnsembleArray<Real>& p,
              const SolveOptions& options, const Extras&... extras) {
    const auto oracle = eddy::solve(field, Method{}, y0, p, options, eddy::Serial{}, extras...);
    const auto rows = eddy::solve(field, Method{}, y0, p, options, eddy::Rows{}, extras...);
    check_same(rows, oracle);
}
template <class Real = double, class Method = eddy::Tsit5, class... Extras>
void check(const SolveOptions& options, std::ptrdiff_t lanes, const Extras&... extras) {
    check_of<Method>(Boxed{}, starts<Real>(lanes), parameters<Real>(lanes), options, extras...);
}

}  // namespace

TEST_CASE("row events: steps, bounces and ends are those of the oracle, bit for bit") {
    const SolveOptions options{.t1 = 2, .rtol = 1e-6, .atol = 1e-8};
    for (const std::ptrdiff_t lanes : {1, 11, 200}) {
        CAPTURE(lanes);
        check(options, lanes);
    }
    SolveOptions saved = options;
    saved.save_at = {0, 0.2, 0.75, 1.5, 2};
    saved.step_to = {0.5};
    check(saved, 20);

    SolveOptions short_ones = options;
    short_ones.dt0 = 0.015625;
    check(short_ones, 9, eddy::ConstantController{});
    // Bounces that come ever faster.
    check({.t1 = 3, .rtol = 1e-6, .max_steps = 500}, 6);
    const auto counted =
        eddy::solve(Boxed{}, eddy::Tsit5{}, starts(20), parameters(20), options, eddy::Rows{});
    CHECK(counted.stats(0).events > 2);
    CHECK(counted.result(4) == eddy::Result::event);
}

TEST_CASE("row events: so are those in single precision, and behind impulses") {
    SolveOptions options{.t1 = 2, .rtol = 1e-4, .save_at = {0.5, 1, 2}};
    check<float>(options, 12);
    options.impulses = {.times = {0.25, 1}, .components = {3, 2}, .amounts = {2, -0.5}};
    check(options, 12);
}

namespace {

/// Of a state, and of the time at which it is saved.
struct Reached {
    constexpr auto operator()(const auto& t, const auto& y, const auto& p) const {
        return (y[0] + 2.0) * (t + y[1]) + p[1] * y[2] * y[3];
    }
};
void check_close(const EnsembleArray<double>& found, const EnsembleArray<double>& expected) {
    for (std::ptrdiff_t row = 0; row < expected.rows(); ++row)
        for (std::ptrdiff_t c = 0; c < expected.cols(); ++c) {
            CAPTURE(row, c);
            CHECK(std::abs(found(row, c) - expected(row, c)) <=
                  1e-12 * (1 + std::abs(expected(row, c))));
        }
}
template <class Method, class Field>
void check_gradient_of(const Field& field, const EnsembleArray<double>& y0,
                       const EnsembleArray<double>& p, const SolveOptions& options) {
    const auto oracle =
        eddy::value_and_gradient(field, Method{}, Reached{}, y0, p, options, eddy::Serial{});
    const auto rows =
        eddy::value_and_gradient(field, Method{}, Reached{}, y0, p, options, eddy::Rows{});
    REQUIRE(oracle.report.success());
    REQUIRE(rows.report.success());
    for (std::ptrdiff_t lane = 0; lane < y0.rows(); ++lane) {
        CHECK(rows.report.stats(lane).events == oracle.report.stats(lane).events);
        CHECK(support::same_bits(rows.report.event_t(lane), oracle.report.event_t(lane)));
        CHECK(std::abs(rows.loss(lane) - oracle.loss(lane)) < 1e-12);
    }
    check_close(rows.gradient.y0, oracle.gradient.y0);
    check_close(rows.gradient.p, oracle.gradient.p);
}
template <class Method = eddy::Tsit5>
void check_gradient(const SolveOptions& options, std::ptrdiff_t lanes) {
    check_gradient_of<Method>(Boxed{}, starts(lanes), parameters(lanes), options);
}

}  // namespace

TEST_CASE("row events: gradients go through bounces and ends as those of the oracle") {
    const SolveOptions options{.t1 = 1.25, .rtol = 1e-6, .atol = 1e-8};
    check_gradient(options, 1);
    check_gradient(options, 11);
    SolveOptions saved = options;
    saved.save_at = {0, 0.2, 0.75, 1.25};
    saved.step_to = {0.5};
    saved.impulses = {.times = {0.25, 1}, .components = {3, 2}, .amounts = {2, -0.5}};
    check_gradient(saved, 11);
    // A budget that neither the log nor the stages of all rounds fit into: rounds are searched again.
    saved.memory_budget = 20000;
    saved.checkpoints = 3;
    check_gradient(saved, 11);
}

TEST_CASE("row events: lanes that begin where others ended go back as they do alone") {
    constexpr std::ptrdiff_t lanes = 700;
    const auto p = parameters(lanes);
    auto y0 = starts(lanes);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        if (!support::is_long_lane(lane)) y0(lane, 0) = 2, y0(lane, 2) = 5;  // the wall is near
    const auto run = [&](std::size_t budget) {
        return eddy::value_and_gradient(
            Boxed{}, eddy::Tsit5{}, Reached{}, y0, p,
            {.t1 = 1.25, .rtol = 1e-6, .atol = 1e-8, .memory_budget = budget},
            eddy::Rows{.threads = 1});
    };

    const auto refilled = run(std::size_t{1} << 30), with_little = run(std::size_t{1} << 14);

    CHECK(3 * refilled.report.counters.pullbacks <
          2 * support::rounds_without_refill(refilled.report));
    CHECK(with_little.report.counters.recomputed > 0);
    bool same = true;
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        for (int c = 0; c < 4; ++c)
            same = same &&
                   support::same_bits(refilled.gradient.y0(lane, c),
                                      with_little.gradient.y0(lane, c)) &&
                   support::same_bits(refilled.gradient.p(lane, c % 2),
                                      with_little.gradient.p(lane, c % 2));
    CHECK(same);
    CHECK(support::same_bits(refilled.loss.total, with_little.loss.total));
}
TEST_CASE("row events: a Rosenbrock method finds them, and gradients go through them") {
    SolveOptions options{.t1 = 1.25, .rtol = 1e-4, .atol = 1e-6};
    check<double, eddy::Rosenbrock23>(options, 20);
    options.save_at = {0, 0.2, 0.4, 0.42, 0.44, 0.46, 0.48, 0.75, 1.25};
    options.step_to = {0.5};
    options.impulses = {.times = {0.25, 1}, .components = {3, 2}, .amounts = {2, -0.5}};
    check<double, eddy::Rosenbrock23>(options, 11);
    check_gradient<eddy::Rosenbrock23>(options, 11);
    options.save_at = {};
    check_gradient<eddy::Rosenbrock23>(options, 11);
}

TEST_CASE("row events: so do ESDIRK methods") {
    SolveOptions options{.t1 = 1.25, .rtol = 1e-4, .atol = 1e-6};
    check<double, eddy::KenCarp4>(options, 20);
    check<float, eddy::TRBDF2>({.t1 = 1.25, .rtol = 1e-3, .atol = 1e-4}, 12);
    options.dt0 = 0.015625;
    check<double, eddy::Kvaerno3>(options, 9, eddy::ConstantController{});
    options.dt0 = {};
    options.save_at = {0, 0.2, 0.4, 0.42, 0.44, 0.46, 0.48, 0.75, 1.25};
    options.step_to = {0.5};
    options.impulses = {.times = {0.25, 1}, .components = {3, 2}, .amounts = {2, -0.5}};
    check<double, eddy::Kvaerno3>(options, 11);
    check<double, eddy::Kvaerno5>(options, 11);
    check_gradient<eddy::Kvaerno3>(options, 11);
    options.save_at = {};
    check_gradient<eddy::TRBDF2>(options, 11);
}

namespace {

/// Boxed without walls, pushed at three times; it ends at a time, or where it has gone too far.
struct Pushed : Boxed {
    constexpr auto event(const auto& t, const auto& y, const auto& p) const {
        const auto s = t - 0.25 * p[1];
        return eddy::vec(y[1], s * (s - 0.25) * (s - 0.5), 1.75 - t, y[0] + 0.5);
    }
    static constexpr eddy::Crossing event_direction[] = {
        eddy::Crossing::falling, eddy::Crossing::either, eddy::Crossing::falling,
        eddy::Crossing::falling};
    static constexpr bool event_terminal[] = {false, false, true, true};
    constexpr auto at_event(const auto& t, const auto& y, const auto& p, auto index) const {
        if constexpr (index == 0)
            return eddy::vec(y[0], 0.0, y[2], -p[1] * y[3]);
        else
            return eddy::vec(y[0], y[1], y[2] + 0.1 * t, y[3] + p[1]);
    }
};
/// Events of time alone.
struct Timed : Pushed {
    constexpr auto event(const auto& t, const auto&, const auto& p) const {
        return eddy::vec(eddy::sin(20 * t) - 0.5,
                         eddy::repeat<3>(t - p[1], [](const auto& x) { return x * (x + 0.375); }));
    }
    static constexpr auto event_direction = eddy::Crossing::either;
    static constexpr bool event_terminal[] = {false, false};
};

}  // namespace

TEST_CASE("row events: steps end with events of time, as those of the oracle") {
    SolveOptions options{.t1 = 2, .rtol = 1e-6, .atol = 1e-8};
    const auto check_both = [&](const SolveOptions& of, const auto&... extras) {
        check_of<eddy::Tsit5>(Pushed{}, starts(20), parameters(20), of, extras...);
    };
    check_both(options);
    const auto counted =
        eddy::solve(Pushed{}, eddy::Tsit5{}, starts(1), parameters(1), options, eddy::Rows{});
    CHECK(counted.result(0) == eddy::Result::event);
    CHECK(counted.event_t(0) == Approx(1.75).epsilon(1e-14));
    CHECK(counted.stats(0).events >= 5);
    SolveOptions saved = options;
    saved.save_at = {0, 0.2, 0.425, 0.75, 1.5, 1.75};
    saved.step_to = {0.5, 1.75};
    saved.impulses = {.times = {0.25, 1}, .components = {3, 2}, .amounts = {2, -0.5}};
    check_both(saved);
    check_of<eddy::Kvaerno3>(Pushed{}, starts(9), parameters(9), saved);
    check_of<eddy::Tsit5>(Pushed{}, starts<float>(9), parameters<float>(9),
                          {.t1 = 2, .rtol = 1e-4});
    options.dt0 = 0.015625;
    check_both(options, eddy::ConstantController{});
    // Backward, from where a function of time is zero: s = 0.25.
    auto p = parameters(5);
    for (std::ptrdiff_t lane = 0; lane < 5; ++lane) p(lane, 1) = 1;
    check_of<eddy::Tsit5>(Pushed{}, starts(5), p, {.t0 = 0.5, .t1 = -0.25, .rtol = 1e-6});
}

TEST_CASE("row events: gradients go through events of time") {
    SolveOptions options{.t1 = 1.25, .rtol = 1e-6, .atol = 1e-8};
    check_gradient_of<eddy::Tsit5>(Pushed{}, starts(11), parameters(11), options);
    options.save_at = {0, 0.2, 0.425, 0.75, 1.25};
    options.memory_budget = 20000;
    options.checkpoints = 3;
    check_gradient_of<eddy::Tsit5>(Pushed{}, starts(11), parameters(11), options);
    check_gradient_of<eddy::Rosenbrock23>(Pushed{}, starts(5), parameters(5), options);
}

TEST_CASE("row events: of functions of time alone, with functions and loops in them") {
    const SolveOptions options{.t1 = 2, .rtol = 1e-9, .atol = 1e-9};
    const auto y0 = starts(5), p = parameters(5);
    const auto rows = eddy::solve(Timed{}, eddy::Tsit5{}, y0, p, options, eddy::Rows{});
    const auto oracle = eddy::solve(Timed{}, eddy::Tsit5{}, y0, p, options, eddy::Serial{});
    for (std::ptrdiff_t lane = 0; lane < 5; ++lane) {
        CHECK(rows.stats(lane).events == oracle.stats(lane).events);
        CHECK(rows.stats(lane).events > 13);
        for (int c = 0; c < 4; ++c)
            CHECK(rows.y()(lane, c) == Approx(oracle.y()(lane, c)).epsilon(1e-11));
    }
}

namespace {

struct Floor {
    double restitution;
    constexpr auto event(const auto&, const auto& y, const auto&) const { return y[1]; }
    static constexpr auto event_direction = eddy::Crossing::falling;
    constexpr auto at_event(const auto&, const auto& y, const auto&) const {
        return eddy::vec(y[0], 0.0, y[2], -restitution * y[3]);
    }
};
struct End {
    constexpr auto event(const auto&, const auto& y, const auto&) const { return y[1]; }
};
struct When {
    constexpr auto operator()(const auto& t, const auto&, const auto&) const { return t; }
};

}  // namespace

TEST_CASE("row events: an equation of run-time sizes takes them from an object beside it") {
    const auto field = eddy::trace_field(4, 2, [](const auto&, const auto& y, const auto& p) {
        return eddy::vec(y[2], y[3], 0.0, -p[0]);
    });
    EnsembleArray<double> y0(1, 4, 0.0), p(1, 2, 9.81);
    y0(0, 1) = 1;
    const SolveOptions options{.t1 = 0.75, .rtol = 1e-9, .atol = 1e-12};
    const double fall = std::sqrt(2 / 9.81), speed = std::sqrt(2 * 9.81), rest = 0.75 - fall;

    const auto bounced =
        eddy::solve(eddy::with_events(field, Floor{0.5}), eddy::Tsit5{}, y0, p, options);
    CHECK(bounced.stats(0).events == 1);
    CHECK(std::abs(bounced.event_t(0) - fall) < 1e-14);
    CHECK(std::abs(bounced.y()(0, 1) - (0.5 * speed * rest - 0.5 * 9.81 * rest * rest)) < 1e-12);

    const auto ended = eddy::solve(eddy::with_events(field, End{}), eddy::Tsit5{}, y0, p, options,
                                   eddy::observe(When{}));
    CHECK(ended.result(0) == eddy::Result::event);
    CHECK(std::abs(ended.y()(0, 0) - fall) < 1e-14);

    const auto when = eddy::value_and_gradient(eddy::with_events(field, End{}), eddy::Tsit5{},
                                               When{}, y0, p, options);
    CHECK(std::abs(when.gradient.p(0, 0) + fall / (2 * 9.81)) < 1e-14);
    EnsembleArray<double> of_height(1, 4, 0.0);
    of_height(0, 1) = 1;
    const auto height = eddy::pullback(bounced, of_height);
    CHECK(std::abs(height.gradient.y0(0, 1) -
                   (0.5 * speed / 2 * rest - (0.5 * speed - 9.81 * rest) / speed)) < 1e-12);
}

namespace {

struct Weighed {
    constexpr auto operator()(const auto&, const auto& y, const auto& p) const {
        return (y[0] + 2.0) * (0.3 + y[1]) + p[1] * y[2] * y[3];
    }
};
/// Boxed as an equation of run-time sizes, where tangents are those of the equation: as near to the gradients of steps
/// as rtol is.
struct Bodies {
    eddy::RuntimeFieldWithEvents field =
        eddy::with_events(eddy::trace_field(4, 2, Boxed{}), Boxed{});
    SolveOptions options{.t1 = 1.25, .rtol = 1e-11, .atol = 1e-13};
    EnsembleArray<double> y0 = starts(11), p = parameters(11);
    EnsembleArray<double> of_y0 = starts(11), of_p = parameters(11);
    static constexpr double near = 1e-8;

    [[nodiscard]] double along(const eddy::Gradient<double>& gradient, std::ptrdiff_t lane) const {
        double sum = 0;
        for (int c = 0; c < 4; ++c) sum += gradient.y0(lane, c) * of_y0(lane, c);
        for (int i = 0; i < 2; ++i) sum += gradient.p(lane, i) * of_p(lane, i);
        return sum;
    }
};
bool are_near(double a, double b, double tolerance) {
    return std::abs(a - b) <= tolerance * (1 + std::abs(b));
}
template <class Method>
void check_tangents(const Bodies& of) {
    const auto solved = eddy::solve(of.field, Method{}, of.y0, of.p, of.options);
    const auto pushed =
        eddy::pushforward(of.field, Method{}, of.y0, of.p, of.of_y0, of.of_p, of.options);
    check_same(pushed, solved);
    const auto reached = eddy::pushforward(of.field, Method{}, of.y0, of.p, of.of_y0, of.of_p,
                                           of.options, eddy::observe(Weighed{}));
    const auto found =
        eddy::value_and_gradient(of.field, Method{}, Weighed{}, of.y0, of.p, of.options);
    std::int64_t bounces = 0, ends = 0;
    for (std::ptrdiff_t lane = 0; lane < 11; ++lane) {
        CAPTURE(lane, reached.tangent()(lane, 0), of.along(found.gradient, lane));
        CHECK(are_near(reached.tangent()(lane, 0), of.along(found.gradient, lane), Bodies::near));
        const bool ended = solved.result(lane) == eddy::Result::event;
        ends += ended ? 1 : 0;
        bounces += solved.stats(lane).events - (ended ? 1 : 0);
    }
    CHECK(bounces > 10);
    CHECK(ends > 0);
}

}  // namespace

TEST_CASE("row events: tangents go through bounces and ends as gradients do") {
    check_tangents<eddy::Tsit5>(Bodies{});
    check_tangents<eddy::Rodas5P>(Bodies{});
    check_tangents<eddy::Kvaerno5>(Bodies{});
    Bodies pushed_at;
    pushed_at.field = eddy::with_events(eddy::trace_field(4, 2, Boxed{}), Pushed{});
    check_tangents<eddy::Tsit5>(pushed_at);

    const Bodies of;
    const auto all =
        eddy::sensitivities(of.field, eddy::Tsit5{}, of.y0, of.p, of.options, eddy::along_both);
    EnsembleArray<double> still(11, 4, 0.0), of_p(11, 2, 0.0);
    for (std::ptrdiff_t lane = 0; lane < 11; ++lane) of_p(lane, 1) = 1;
    const auto pushed =
        eddy::pushforward(of.field, eddy::Tsit5{}, of.y0, of.p, still, of_p, of.options);
    for (std::ptrdiff_t lane = 0; lane < 11; ++lane)
        for (int c = 0; c < 4; ++c)
            CHECK(are_near(all.sensitivity()(lane, c, 1), pushed.tangent()(lane, c), 1e-12));
}

TEST_CASE("row events: products with Hessians are differences of gradients through events") {
    const Bodies of;
    const auto product = eddy::hessian_vector_product(of.field, eddy::Tsit5{}, Weighed{}, of.y0,
                                                      of.p, of.of_y0, of.of_p, of.options);
    REQUIRE(product.report.success());
    const double size = 0x1p-16;
    const auto moved = [&](double by) {
        EnsembleArray<double> y0 = of.y0, p = of.p;
        for (std::ptrdiff_t lane = 0; lane < 11; ++lane) {
            for (int c = 0; c < 4; ++c) y0(lane, c) += by * of.of_y0(lane, c);
            for (int i = 0; i < 2; ++i) p(lane, i) += by * of.of_p(lane, i);
        }
        return eddy::value_and_gradient(of.field, eddy::Tsit5{}, Weighed{}, y0, p, of.options);
    };
    const auto behind = moved(size), before = moved(-size);
    for (std::ptrdiff_t lane = 0; lane < 11; ++lane)
        for (int i = 0; i < 2; ++i) {
            const double slope =
                (behind.gradient.p(lane, i) - before.gradient.p(lane, i)) / (2 * size);
            CAPTURE(lane, i);
            CHECK(are_near(product.product.p(lane, i), slope, 1e-6));
        }
}

namespace {

struct Looked {
    constexpr auto event(const auto& t, const auto& y, const auto& p) const {
        return eddy::vec(y[1], eddy::at(p, t) - 0.5);
    }
};
struct TooMany {
    auto event(const auto&, const auto& y, const auto&) const {
        return std::vector<std::remove_cvref_t<decltype(y[0])>>(33, y[0]);
    }
};
struct NoState {
    constexpr auto event(const auto&, const auto& y, const auto&) const { return y[1]; }
    constexpr auto at_event(const auto&, const auto& y, const auto&) const {
        return eddy::vec(y[0], y[1]);
    }
};
struct Sum {
    constexpr auto operator()(const auto&, const auto& y, const auto&) const { return y[0]; }
};

}  // namespace

TEST_CASE("row events: what does not fit is one sentence") {
    const auto field = eddy::trace_field(4, 2, Boxed{});
    CHECK_THROWS_WITH(
        eddy::with_events(field, Looked{}),
        "events over rows: event function 1 reads no state, and a table, or a loop that "
        "trajectories leave; such a function has no bounds, by which its roots are found: take "
        "`.impulses` or `.step_to`");
    CHECK_THROWS_WITH(eddy::with_events(field, TooMany{}),
                      "with_events: event(t, y, p) returns 33 numbers; return one, or "
                      "eddy::vec(...) of up to 32");
    CHECK_THROWS_WITH(eddy::with_events(field, NoState{}),
                      "with_events: at_event(t, y, p) of event 0 returns 2 numbers for 4 states; "
                      "return one for each");
    const EnsembleArray<double> y0(1, 4, 1.0), p(1, 2, 1.0);
    const auto push = [&](const auto& with_events, const auto&... observed) {
        return support::message_of([&] {
            static_cast<void>(eddy::pushforward(with_events, eddy::Tsit5{}, y0, p, y0, p, {.t1 = 1},
                                                observed...));
        });
    };
    CHECK(support::mentions(
        push(eddy::with_events(field, End{}), eddy::observe(When{})),
        "pushforward: an event ends trajectories over rows, and what is observed there, or the "
        "loss, reads t, whose tangent it does not get; make t a component of y"));
    const auto driven = eddy::trace_field(
        4, 2, 1, [](const auto&, const auto& y, const auto&, const auto& u) { return y + u[0]; });
    CHECK(support::mentions(push(eddy::with_events(driven, End{})),
                            "tangents through events over rows take an equation without inputs"));
}
