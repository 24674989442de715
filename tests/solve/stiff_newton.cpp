// Stiff equations by diagonally implicit methods: fast components, neighbours of all kinds, and what becomes
// of steps whose iterations do not converge.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/rows.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/kvaerno3.hpp>
#include <eddy/solvers/kvaerno5.hpp>
#include <eddy/solvers/trbdf2.hpp>
#include <limits>

#include "solve/stiff_references.hpp"

namespace {

using support::Array, support::Robertson, support::row, support::rows;

constexpr auto& hires_end = support::HiresEnd::end;

/// Flat far from zero, steep at zero: a chord of the slope at the start finds no solution.
constexpr auto saturating = eddy::field<2, 1>([](auto, const auto& y, const auto& p) {
    return eddy::vec(-y[0], -p[0] * y[1] / eddy::sqrt(1.0 + y[1] * y[1]));
});

}  // namespace

TEST_CASE("stiff, Newton: a component that is a billion times faster than the rest is followed") {
    constexpr auto fast = eddy::field<1, 1>([](auto t, const auto& y, const auto& p) {
        return eddy::vec(p[0] * (y[0] - eddy::cos(t)));
    });
    const auto solution =
        eddy::solve(fast, eddy::Kvaerno5{}, rows({{0}}), rows({{-1e8}}),
                    {.t1 = 1, .rtol = 1e-7, .save_at = {0.013, 0.5, 1}}, eddy::Rows{});

    REQUIRE(solution.result(0) == eddy::Result::success);
    for (const auto& [k, t] : {std::pair{0, 0.013}, {1, 0.5}, {2, 1.}})
        CHECK(solution.y(k)(0, 0) == Approx(std::cos(t)).epsilon(1e-6));
    CHECK(solution.stats(0).accepted < 100);
}

TEST_CASE(
    "stiff, Newton: neighbours of all kinds have the bits that they have alone, in packs too") {
    constexpr int lanes = 21;
    Array y0(lanes, 3), p(lanes, 3);
    for (int lane = 0; lane < lanes; ++lane) {
        y0(lane, 0) = 1;
        p(lane, 0) = 0.04 * std::pow(10., 0.1 * lane);
        p(lane, 1) = 1e4 / (1 + lane);
        p(lane, 2) = lane == 5   ? -3e9  // explodes
                     : lane == 9 ? 1e300
                                 : 3e7 * std::pow(2., -lane);
    }
    p(7, 0) = p(7, 1) = p(7, 2) = 1e308;  // its Jacobian is infinite
    const eddy::SolveOptions options{
        .t1 = 1e3, .rtol = 1e-5, .atol = 1e-10, .save_at = {0.1, 20, 1e3}};

    const auto solve = [&](const auto& backend) {
        return eddy::solve(Robertson{}, eddy::Kvaerno3{}, y0, p, options, backend);
    };
    const auto alone = solve(eddy::Serial{});
    const auto together = solve(eddy::Cpu{.threads = 2});

    CHECK(eddy::is_failure(alone.result(5)));
    CHECK(eddy::is_failure(alone.result(7)));
    for (int lane = 0; lane < lanes; ++lane) {
        CAPTURE(lane);
        CHECK(alone.result(lane) == together.result(lane));
        CHECK(alone.stats(lane).accepted == together.stats(lane).accepted);
        CHECK(alone.stats(lane).rejected == together.stats(lane).rejected);
        CHECK(alone.stats(lane).evaluations == together.stats(lane).evaluations);
        const bool is_wild = lane == 5 || lane == 7 || lane == 9;
        CHECK((is_wild || alone.result(lane) == eddy::Result::success));
        for (int k = 0; k < 3; ++k) CHECK(support::same_row(alone.y(k), lane, together.y(k), lane));
    }
}

TEST_CASE(
    "stiff, Newton: an iteration that does not converge makes a smaller step, or ends the lane") {
    const Array y0 = rows({{1, 5}}), p = rows({{1000}});
    const auto check = [&](const auto& backend) {
        const auto constant = eddy::solve(saturating, eddy::TRBDF2{}, y0, p, {.t1 = 1, .dt0 = 0.1},
                                          eddy::ConstantController{}, backend);
        CHECK(constant.result(0) == eddy::Result::newton_failed);
        CHECK(constant.outcomes()[0].t == 0);
        CHECK(constant.stats(0).accepted == 0);

        const auto adaptive =
            eddy::solve(saturating, eddy::TRBDF2{}, y0, p,
                        {.t1 = 0.1, .rtol = 1e-5, .atol = 1e-8, .dt0 = 0.1}, backend);
        CHECK(adaptive.result(0) == eddy::Result::success);
        CHECK(adaptive.stats(0).rejected > 0);
        CHECK(adaptive.y()(0, 0) == Approx(std::exp(-0.1)).epsilon(1e-4));
        CHECK(std::abs(adaptive.y()(0, 1)) < 1e-6);
    };
    check(eddy::Serial{});
    check(eddy::Cpu{.threads = 1});
    CHECK(std::string(eddy::message(eddy::Result::newton_failed)).find("Newton") == 0);
}

TEST_CASE(
    "stiff, Newton: an iteration that stalls takes Jacobians anew where steps keep their size") {
    // The first stages lie beyond zero, where the slope is that of zero: chords of the start stall.
    constexpr auto cubic = eddy::field<1, 1>(
        [](auto, const auto& y, const auto& p) { return eddy::vec(-p[0] * y[0] * y[0] * y[0]); });
    const Array y0 = rows({{5}, {0.01}, {-20}}), p = rows({{1000}, {1000}, {1e6}});
    const auto check = [&](const auto& backend) {
        return eddy::solve(cubic, eddy::TRBDF2{}, y0, p, {.t1 = 1, .dt0 = 0.1},
                           eddy::ConstantController{}, backend);
    };

    const auto alone = check(eddy::Serial{});
    const auto together = check(eddy::Cpu{.threads = 1});

    for (int lane = 0; lane < 3; ++lane) {
        CAPTURE(lane);
        REQUIRE(alone.result(lane) == eddy::Result::success);
        CHECK(support::same_row(alone.y(), lane, together.y(), lane));
        CHECK(alone.stats(lane).evaluations == together.stats(lane).evaluations);
        const double exact = 1 / std::sqrt(1 / (y0(lane, 0) * y0(lane, 0)) + 2 * p(lane, 0));
        CHECK(std::abs(alone.y()(lane, 0)) == Approx(exact).epsilon(0.15));
    }
}

TEST_CASE("stiff, Newton: a stage in which f is no number is told as that, with its component") {
    // √(1 − y0) is a number in every step's start, and none in stages behind y0 = 1.
    constexpr auto ending = eddy::field<2, 1>([](auto, const auto& y, const auto& p) {
        return eddy::vec(p[0] + 0.0 * y[1], eddy::sqrt(1.0 - y[0]));
    });
    const Array y0 = rows({{0, 0}, {0, 0}, {0, 0}}), p = rows({{1}, {0.5}, {2}});
    const auto check = [&](const auto& method, const auto& backend, auto... controller) {
        const auto solution =
            eddy::solve(ending, method, y0, p, {.t1 = 1.5, .dt0 = 0.4}, controller..., backend);
        for (const int lane : {0, 2}) {
            CHECK(solution.result(lane) == eddy::Result::non_finite);
            CHECK(solution.failure(lane).component == 1);
            CHECK(solution.failure(lane).t < 1 / p(lane, 0) + 1e-12);
        }
        CHECK(solution.failure(0).t > 0.7);
        CHECK(solution.result(1) == eddy::Result::success);
    };
    check(eddy::TRBDF2{}, eddy::Serial{});
    check(eddy::TRBDF2{}, eddy::Cpu{.threads = 1});
    check(eddy::TRBDF2{}, eddy::Serial{}, eddy::ConstantController{});
    check(eddy::TRBDF2{}, eddy::Cpu{.threads = 1}, eddy::ConstantController{});
}

TEST_CASE("stiff, Newton: evaluations of f are counted, those of the iterations as well") {
    constexpr auto linear = eddy::field<1, 1>(
        [](auto, const auto& y, const auto& p) { return eddy::vec(p[0] * y[0]); });
    const auto evaluations = [&](double rtol, const auto& backend, double tolerance = 1e-2) {
        const eddy::TRBDF2 method{.newton_tolerance = tolerance};
        const auto solution = eddy::solve(linear, method, rows({{1}}), rows({{-1}}),
                                          {.t1 = 1, .rtol = rtol, .atol = 1e-12, .dt0 = 0.25},
                                          eddy::ConstantController{}, backend);
        CHECK(solution.stats(0).accepted == 4);
        return solution.stats(0).evaluations;
    };
    // A step: at the start; two updates for the first implicit stage, of which the second shows that the
    // first was exact; one for the other, or two where that promise is not enough.
    CHECK(evaluations(1e-2, eddy::Serial{}) == 4 * (1 + 2 + 1));
    CHECK(evaluations(1e-9, eddy::Serial{}) == 4 * (1 + 2 + 2));
    CHECK(evaluations(1e-2, eddy::Cpu{.threads = 1}) == 4 * (1 + 2 + 1));
    // The tolerance of the iterations is a part of that of the errors.
    CHECK(evaluations(1e-2, eddy::Serial{}, 1e-9) == 4 * (1 + 2 + 2));
    CHECK(evaluations(1e-2, eddy::Cpu{.threads = 1}, 1e-9) == 4 * (1 + 2 + 2));
    using limits = std::numeric_limits<double>;
    for (const double bad : {0., -1e-2, 1.1, limits::infinity(), limits::quiet_NaN()})
        CHECK_THROWS_WITH(evaluations(1e-2, eddy::Serial{}, bad),
                          support::contains("; give a fraction of the tolerances above 0"));
}

TEST_CASE("stiff, Newton: steps of constant size, and states of single precision") {
    using support::Hires;
    eddy::EnsembleArray<float> y0(1, 8), p(1, 3);
    for (int i = 0; i < 8; ++i) y0(0, i) = static_cast<float>(Hires::y0[i]);
    for (int i = 0; i < 3; ++i) p(0, i) = static_cast<float>(Hires::p0[i]);
    const auto single = eddy::solve(Hires{}, eddy::Kvaerno3{}, y0, p,
                                    {.t1 = 321.8122, .rtol = 1e-3, .atol = 1e-7}, eddy::Rows{});
    CHECK(single.result(0) == eddy::Result::success);
    CHECK(single.y()(0, 5) == Approx(hires_end[5]).epsilon(2e-2));

    const auto constant =
        eddy::solve(Hires{}, eddy::TRBDF2{}, row(Hires::y0), row(Hires::p0),
                    {.t1 = 321.8122, .dt0 = 0.05}, eddy::ConstantController{}, eddy::Rows{});
    CHECK(constant.result(0) == eddy::Result::success);
    CHECK(constant.y()(0, 0) == Approx(hires_end[0]).epsilon(1e-3));
}
