// Events over rows beside those of the oracle.

#include <cmath>
#include <eddy/backends/serial.hpp>
#include <eddy/runtime.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/solve.hpp>
#include <vector>
#include "support/catch.hpp"
#include "support/message_of.hpp"
#include "support/same_bits.hpp"

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
template <class Real = double, class... Extras>
void check(const SolveOptions& options, std::ptrdiff_t lanes, const Extras&... extras) {
    const auto y0 = starts<Real>(lanes), p = parameters<Real>(lanes);
    const auto oracle =
        eddy::solve(Boxed{}, eddy::Tsit5{}, y0, p, options, eddy::Serial{}, extras...);
    const auto rows = eddy::solve(Boxed{}, eddy::Tsit5{}, y0, p, options, eddy::Rows{}, extras...);
    check_same(rows, oracle);
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
void check_gradient(const SolveOptions& options, std::ptrdiff_t lanes) {
    const auto y0 = starts(lanes), p = parameters(lanes);
    const auto oracle =
        eddy::value_and_gradient(Boxed{}, eddy::Tsit5{}, Reached{}, y0, p, options, eddy::Serial{});
    const auto rows =
        eddy::value_and_gradient(Boxed{}, eddy::Tsit5{}, Reached{}, y0, p, options, eddy::Rows{});
    REQUIRE(oracle.report.success());
    REQUIRE(rows.report.success());
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        CHECK(rows.report.stats(lane).events == oracle.report.stats(lane).events);
        CHECK(support::same_bits(rows.report.event_t(lane), oracle.report.event_t(lane)));
        CHECK(std::abs(rows.loss(lane) - oracle.loss(lane)) < 1e-12);
    }
    check_close(rows.gradient.y0, oracle.gradient.y0);
    check_close(rows.gradient.p, oracle.gradient.p);
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

struct AtATime {
    constexpr auto event(const auto& t, const auto& y, const auto&) const {
        return eddy::vec(y[1], t - 0.5);
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
        eddy::with_events(field, AtATime{}),
        "events over rows: event function 1 reads no state, and its roots would have to be found "
        "before the steps; take `.impulses` or `.step_to`, or a compile-time functor without Rows");
    CHECK_THROWS_WITH(eddy::with_events(field, TooMany{}),
                      "with_events: event(t, y, p) returns 33 numbers; return one, or "
                      "eddy::vec(...) of up to 32");
    CHECK_THROWS_WITH(eddy::with_events(field, NoState{}),
                      "with_events: at_event(t, y, p) of event 0 returns 2 numbers for 4 states; "
                      "return one for each");
    auto solver = eddy::ensemble_solver(eddy::with_events(field, End{}), eddy::Tsit5{}, {.t1 = 1});
    const EnsembleArray<double> y0(1, 4, 1.0), p(1, 2, 1.0);
    CHECK(support::mentions(
        support::message_of([&] { static_cast<void>(solver(y0, p, y0, p)); }),
        "over rows tangents do not go through events; give a compile-time functor without Rows"));
}
