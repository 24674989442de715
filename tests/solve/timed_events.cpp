// Events of time and parameters only: doses. None is missed, however long steps are; each has the derivative of
// the closed form, with respect to its time as well. By packs and Serial where a claim is of where steps end; else over rows, for which
// no equation is compiled. That all machines have the same bits is told in timed_kicks.cpp.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/rows.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <limits>
#include <numbers>

#include "support/catch.hpp"

namespace {

using Array = eddy::EnsembleArray<double>;
using eddy::Cpu, eddy::Rows, eddy::Serial, eddy::Result, eddy::SolveOptions;

/// An amount that decays, with a dose at each event. p = (rate, dose, …).
struct Amount {
    static constexpr int state_size = 1, parameter_size = 3;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
    constexpr auto at_event(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[0] + p[1]);
    }
};
/// Every p[2].
struct Periodic : Amount {
    constexpr auto event(auto t, const auto&, const auto& p) const {
        return eddy::sin(t * (std::numbers::pi / p[2]));
    }
};
/// At times of its own, in any order.
struct Listed : Amount {
    static constexpr int parameter_size = 6;
    constexpr auto event(auto t, const auto&, const auto& p) const {
        return t - eddy::slice<2, 4>(p);
    }
    static constexpr auto event_direction = eddy::Crossing::rising;
};
template <eddy::Crossing direction>
struct Once : Amount {
    constexpr auto event(auto t, const auto&, const auto& p) const { return t - p[2]; }
    static constexpr auto event_direction = direction;
};
struct Until {
    static constexpr int state_size = 1, parameter_size = 3;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return Amount{}(t, y, p);
    }
    constexpr auto event(auto t, const auto&, const auto& p) const { return t - p[2]; }
};
/// What is there at the end, of all save points.
struct Last {
    constexpr auto operator()(auto t, const auto& y, const auto&) const {
        return eddy::select(t > 49, y[0], 0 * y[0]);
    }
};

Array row(std::initializer_list<double> values) {
    Array array(1, static_cast<std::ptrdiff_t>(values.size()));
    std::ptrdiff_t i = 0;
    for (const double value : values) array(0, i++) = value;
    return array;
}
SolveOptions until(double t1, double rtol) { return {.t1 = t1, .rtol = rtol, .atol = 1e-6}; }

/// Of doses every 12 from 0 to t, that at 0 given.
double amount_at(double t, double rate, int last = 1000) {
    double sum = 0;
    for (int k = 0; k <= last && 12 * k <= t; ++k) sum += 100 * std::exp(-rate * (t - 12 * k));
    return sum;
}

}  // namespace

TEST_CASE("timed events: of doses every twelve hours none is lost, whatever the tolerance") {
    for (const double rtol : {1e-3, 1e-6, 1e-9}) {
        for (const double rate : {0.01, 0.001, 0.}) {
            CAPTURE(rtol, rate);
            const auto check = [&](const auto& backend) {
                const auto given = eddy::solve(Periodic{}, eddy::Tsit5{}, row({100}),
                                               row({rate, 100, 12}), until(119, rtol), backend);
                CHECK(given.stats(0).events == 9);
                CHECK(std::fabs(given.event_t(0) - 108) <= 1e-12);
                CHECK(given.y()(0, 0) == Approx(amount_at(119, rate)).epsilon(3 * rtol + 1e-12));
            };
            check(Cpu{});
            check(Serial{});
        }
    }
    const auto year =
        eddy::solve(Periodic{}, eddy::Tsit5{}, row({0}), row({0.1, 100, 12}), until(8761, 1e-6));
    CHECK(year.stats(0).events == 730);
}

TEST_CASE("timed events: nor backward in time") {
    SolveOptions options = until(1, 1e-9);
    options.t0 = 119;
    const auto taken = eddy::solve(Periodic{}, eddy::Tsit5{}, row({amount_at(119, 0.01)}),
                                   row({0.01, -100, 12}), options);
    CHECK(taken.stats(0).events == 9);
    CHECK(taken.y()(0, 0) == Approx(amount_at(1, 0.01)).epsilon(1e-8));
}

TEST_CASE("timed events: at save points, stops and the end there is the state after them") {
    SolveOptions options = until(108, 1e-9);
    for (int k = 0; k <= 9; ++k) options.save_at.values.push_back(12 * k);
    for (const bool stops : {false, true}) {
        if (stops) options.step_to = {12, 36, 50, 108};
        const auto check = [&](const auto& backend) {
            const auto given = eddy::solve(Periodic{}, eddy::Tsit5{}, row({100}),
                                           row({0.01, 100, 12}), options, backend);
            CHECK(given.stats(0).events == 9);
            for (int k = 0; k <= 9; ++k)
                CHECK(given.y(k)(0, 0) == Approx(amount_at(12 * k, 0.01)).epsilon(1e-8));
        };
        check(Cpu{});
        check(Serial{});
    }
    options.step_to = {};
    options.jump_times = {24, 60};
    options.dt0 = 5;
    const auto given = eddy::solve(Periodic{}, eddy::Tsit5{}, row({100}), row({0.01, 100, 12}),
                                   options, eddy::ConstantController{}, Rows{});
    CHECK(given.stats(0).events == 9);
}

TEST_CASE("timed events: one at t0 is, where its function passes zero there as was declared") {
    const auto count = [](const auto& field, double t0, double direction) {
        SolveOptions options = until(t0 + direction * 10, 1e-9);
        options.t0 = t0;
        const auto solve = [&](const auto& backend) {
            return eddy::solve(field, eddy::Tsit5{}, row({0}), row({direction * 0.1, 100, t0}),
                               options, backend);
        };
        const auto given = solve(Cpu{});
        CHECK(given.y()(0, 0) == solve(Serial{}).y()(0, 0));
        CHECK(given.y()(0, 0) ==
              Approx(static_cast<double>(given.stats(0).events) * 100 * std::exp(-1))
                  .epsilon(1e-8)
                  .margin(1e-8));
        return given.stats(0).events;
    };
    for (const double t0 : {0., 0.1 + 0.2, -7., 1e9}) {
        CAPTURE(t0);
        CHECK(count(Once<eddy::Crossing::rising>{}, t0, 1) == 1);
        CHECK(count(Once<eddy::Crossing::falling>{}, t0, 1) == 0);
        CHECK(count(Once<eddy::Crossing::either>{}, t0, 1) == 0);
        CHECK(count(Once<eddy::Crossing::rising>{}, t0, -1) == 0);
        CHECK(count(Once<eddy::Crossing::falling>{}, t0, -1) == 1);
    }
}

TEST_CASE("timed events: several at one time are all given, at t0 as well, in single precision") {
    const auto given = eddy::solve(Listed{}, eddy::Tsit5{}, row({0}), row({0.1, 100, 0, 4, 0, 4}),
                                   until(10, 1e-9), Rows{});
    CHECK(given.stats(0).events == 4);
    CHECK(given.y()(0, 0) == Approx(200 * (std::exp(-1.) + std::exp(-0.6))).epsilon(1e-8));

    eddy::EnsembleArray<float> y0(1, 1, 0.F), p(1, 6, 4.F);
    p(0, 0) = 0.1F, p(0, 1) = 100, p(0, 2) = 0;
    const auto in_single =
        eddy::solve(Listed{}, eddy::Rodas5P{}, y0, p, {.t1 = 10, .save_at = {4, 10}}, Rows{});
    CHECK(in_single.stats(0).events == 4);
    CHECK(in_single.y(0)(0, 0) == Approx(100 * std::exp(-0.4) + 300).epsilon(1e-4));
}

TEST_CASE("timed events: a trajectory ends at one, and has the save point that is there") {
    SolveOptions options = until(20, 1e-9);
    options.save_at = {3, 7, 8};
    const auto ended =
        eddy::solve(Until{}, eddy::Tsit5{}, row({1}), row({0.1, 0, 7}), options, Rows{});
    CHECK(ended.result(0) == Result::event);
    CHECK(std::fabs(ended.event_t(0) - 7) <= 1e-14);
    CHECK(ended.y(1)(0, 0) == Approx(std::exp(-0.7)).epsilon(1e-8));
    CHECK(std::isnan(ended.y(2)(0, 0)));
}

namespace {

/// Derivatives with respect to p of doses p[1] at `when`, where d when / d p[2] is `by`, at t = 50.
struct Derivatives {
    double rate = 0, dose = 0, time = 0;
    void add(double when, double by) {
        const double left = std::exp(-0.02 * (50 - when));
        rate -= 100 * (50 - when) * left;
        dose += left;
        time += 100 * 0.02 * left * by;
    }
};
template <class Field, class Method>
void check_gradient(const Field& field, const Method& method, const Array& p,
                    const Derivatives& wanted) {
    SolveOptions options{.t1 = 50, .rtol = 1e-10, .atol = 1e-10};
    const auto check = [&](double got, double expected) {
        CHECK(got == Approx(expected).epsilon(1e-8));
    };
    for (const bool has_saves : {false, true}) {
        if (has_saves) options.save_at = {10, 50};
        const auto pulled =
            eddy::value_and_gradient(field, method, Last{}, row({0}), p, options, Rows{});
        check(pulled.gradient.p(0, 0), wanted.rate);
        check(pulled.gradient.p(0, 1), wanted.dose);
        check(pulled.gradient.p(0, 2), wanted.time);

        Array along(1, p.cols(), 0.), still(1, 1, 0.);
        along(0, 2) = 1;
        const auto pushed =
            eddy::pushforward(field, method, row({0}), p, still, along, options, Rows{});
        check(pushed.tangent(has_saves ? 1 : 0)(0, 0), wanted.time);
    }
}

}  // namespace

TEST_CASE("timed events: gradients and tangents are those of the closed form") {
    Derivatives periodic, listed, at_start;
    for (int k = 1; k <= 5; ++k) periodic.add(10 * k, k);  // one at the end
    check_gradient(Periodic{}, eddy::Tsit5{}, row({0.02, 100, 10}), periodic);

    listed.add(10, 1);
    for (const double other : {3., 10., 33.25}) listed.add(other, 0);
    check_gradient(Listed{}, eddy::Tsit5{}, row({0.02, 100, 10, 33.25, 10, 3}), listed);

    at_start.add(0, 1);
    check_gradient(Once<eddy::Crossing::rising>{}, eddy::Rodas5P{}, row({0.02, 100, 0}), at_start);
}

namespace {

struct Broken : Amount {  // no number where t > 5
    constexpr auto event(auto t, const auto&, const auto& p) const {
        return eddy::sqrt(5 - t) + p[2];
    }
};

}  // namespace

TEST_CASE("timed events: where their function is no number the trajectory fails, alone") {
    Array p(3, 3, 1.);
    p(1, 2) = -1.5;  // passes zero at t = 2.75
    const auto check = [&](const auto& backend) {
        SolveOptions options = until(10, 1e-6);
        const auto solution =
            eddy::solve(Broken{}, eddy::Tsit5{}, Array(3, 1, 1.), p, options, backend);
        for (const std::ptrdiff_t lane : {0, 1, 2}) {
            CHECK(solution.result(lane) == Result::non_finite);
            CHECK(solution.failure(lane).component == -1);
            CHECK(solution.failure(lane).t <= 5);
        }
        CHECK(solution.stats(1).events == 1);
        options.t1 = 4.9;
        CHECK(eddy::solve(Broken{}, eddy::Tsit5{}, Array(3, 1, 1.), p, options, backend).success());
    };
    check(Cpu{});
    check(Serial{});
}
