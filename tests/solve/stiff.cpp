// Stiff equations by Rosenbrock methods: against references of more than 16 digits, in the number of
// steps that these methods are known to take.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/rodas3.hpp>
#include <eddy/solvers/rodas4.hpp>
#include <eddy/solvers/rodas4p.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/rosenbrock23.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/stiff_equations.hpp"

namespace {

using support::Array;

/// One row, from a built-in array.
template <std::size_t size>
Array row(const double (&values)[size]) {
    Array array(1, static_cast<std::ptrdiff_t>(size));
    std::ptrdiff_t i = 0;
    for (const double value : values) array(0, i++) = value;
    return array;
}

struct Outcome {
    double error;  // relative, of the worst component
    std::int64_t attempts;
};

template <class Field, class Method, std::size_t size>
Outcome outcome(const Method& method, double t1, double rtol, double atol,
                const double (&reference)[size]) {
    const auto solution = eddy::solve(Field{}, method, row(Field::y0), row(Field::p0),
                                      {.t1 = t1, .rtol = rtol, .atol = atol}, eddy::Serial{});
    REQUIRE(solution.result(0) == eddy::Result::success);
    Outcome result{0, solution.stats(0).accepted + solution.stats(0).rejected};
    for (std::size_t i = 0; i < size; ++i) {
        const double y = solution.y()(0, static_cast<std::ptrdiff_t>(i));
        result.error = std::max(result.error, std::abs(y / reference[i] - 1));
    }
    return result;
}

/// The error is at most 50 rtol, and the attempts are within a tenth of those recorded.
void check(const Outcome& outcome, double rtol, int attempts) {
    CAPTURE(rtol, outcome.error, outcome.attempts, attempts);
    CHECK(outcome.error <= 50 * rtol);
    CHECK(std::abs(static_cast<double>(outcome.attempts) / attempts - 1) <= 0.1);
}

constexpr double robertson_end[] = {2.08334014970129423e-8, 8.33336077033478340e-14,
                                    9.99999979166515169e-1};
constexpr double hires_end[] = {
    7.37131257332566781e-4, 1.44248572631618466e-4, 5.88872974096757501e-5, 1.17565134328314915e-3,
    2.38635619883133047e-3, 6.23896825274279579e-3, 2.84999839518576866e-3, 2.85000160481423134e-3};
constexpr double oregonator_end[] = {1.00081487031852272, 1.22817852154988799e3,
                                     1.32055494284650829e2};
/// y at t = 2 for ε = 1e-6, the problem of the test set: μ² = 1/ε in time scaled by μ.
constexpr double van_der_pol_end[] = {1.70616773217046500848, -8.92809701024816547779e-1};
struct FastVanDerPol {
    static constexpr int state_size = 2, parameter_size = 1;
    static constexpr double y0[] = {2, 0}, p0[] = {1e6};
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], p[0] * ((1.0 - y[0] * y[0]) * y[1] - y[0]));
    }
};

Outcome robertson(const auto& method, double rtol) {
    return outcome<support::Robertson>(method, 1e11, rtol, 1e-8 * rtol, robertson_end);
}
Outcome hires(const auto& method, double rtol) {
    return outcome<support::Hires>(method, 321.8122, rtol, 1e-4 * rtol, hires_end);
}

}  // namespace

TEST_CASE("stiff: Robertson's reactions over eleven decades") {
    check(robertson(eddy::Rodas5P{}, 1e-4), 1e-4, 129);
    check(robertson(eddy::Rodas5P{}, 1e-7), 1e-7, 431);
    check(robertson(eddy::Rodas4{}, 1e-4), 1e-4, 156);
    check(robertson(eddy::Rodas4P{}, 1e-4), 1e-4, 143);
    check(robertson(eddy::Rodas3{}, 1e-4), 1e-4, 161);
    check(robertson(eddy::Rosenbrock23{}, 1e-3), 1e-3, 191);
}

TEST_CASE("stiff: HIRES, Oregonator and Van der Pol, as exact as asked for") {
    check(hires(eddy::Rodas5P{}, 1e-4), 1e-4, 64);
    check(hires(eddy::Rodas5P{}, 1e-7), 1e-7, 410);
    check(hires(eddy::Rodas5P{}, 1e-10), 1e-10, 2856);
    check(hires(eddy::Rodas4{}, 1e-6), 1e-6, 367);

    for (const double rtol : {1e-4, 1e-7}) {
        check(outcome<support::Oregonator>(eddy::Rodas5P{}, 360, rtol, 1e-6 * rtol, oregonator_end),
              rtol, rtol == 1e-4 ? 315 : 1670);
        check(outcome<FastVanDerPol>(eddy::Rodas5P{}, 2, rtol, rtol, van_der_pol_end), rtol,
              rtol == 1e-4 ? 232 : 1107);
    }
}

TEST_CASE("stiff: Robertson at t = 40, and what is conserved stays so to rounding") {
    constexpr double at_40[] = {7.15827068719405090474e-1, 9.18553476455776390390e-6};
    check(outcome<support::Robertson>(eddy::Rodas5P{}, 40, 1e-8, 1e-14, at_40), 1e-8, 157);

    const auto end =
        eddy::solve(support::Robertson{}, eddy::Rodas5P{}, row(support::Robertson::y0),
                    row(support::Robertson::p0), {.t1 = 1e11, .rtol = 1e-6, .atol = 1e-14});
    CHECK(std::abs(end.y()(0, 0) + end.y()(0, 1) + end.y()(0, 2) - 1) < 1e-12);
}

TEST_CASE("stiff: a component that is a billion times faster than the rest is followed") {
    constexpr auto fast = eddy::field<1, 1>([](auto t, const auto& y, const auto& p) {
        return eddy::vec(p[0] * (y[0] - eddy::cos(t)));
    });
    const auto solution = eddy::solve(fast, eddy::Rodas5P{}, support::rows({{0}}),
                                      support::rows({{-1e8}}), {.t1 = 1, .rtol = 1e-7});

    REQUIRE(solution.result(0) == eddy::Result::success);
    CHECK(solution.y()(0, 0) == Approx(std::cos(1.)).epsilon(1e-7));
    CHECK(solution.stats(0).accepted < 100);
}

TEST_CASE("stiff: neighbours of all kinds have the bits that they have alone, in packs too") {
    using support::Robertson;
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
    const eddy::SolveOptions options{
        .t1 = 1e3, .rtol = 1e-5, .atol = 1e-10, .save_at = {0.1, 20, 1e3}};

    const auto solve = [&](const auto& backend) {
        return eddy::solve(Robertson{}, eddy::Rodas4{}, y0, p, options, backend);
    };
    const auto alone = solve(eddy::Serial{});
    const auto together = solve(eddy::Cpu{.threads = 2});

    CHECK(eddy::is_failure(alone.result(5)));
    for (int lane = 0; lane < lanes; ++lane) {
        CAPTURE(lane);
        CHECK(alone.result(lane) == together.result(lane));
        CHECK(alone.stats(lane).accepted == together.stats(lane).accepted);
        CHECK(alone.stats(lane).rejected == together.stats(lane).rejected);
        CHECK((lane == 5 || lane == 9 || alone.result(lane) == eddy::Result::success));
        for (int k = 0; k < 3; ++k) CHECK(support::same_row(alone.y(k), lane, together.y(k), lane));
    }
}

TEST_CASE("stiff: a matrix that is singular, or loses all digits, is told with its component") {
    constexpr auto grows = eddy::field<2, 1>(
        [](auto, const auto& y, const auto& p) { return eddy::vec(-y[0], p[0] * y[1]); });
    constexpr auto rotates = eddy::field<2, 1>(
        [](auto, const auto& y, const auto& p) { return eddy::vec(p[0] * y[1], -p[0] * y[0]); });
    const auto outcome = [](const auto& equation, double p, const auto& backend) {
        const auto solution =
            eddy::solve(equation, eddy::Rodas4{}, support::rows({{1, 1}}), support::rows({{p}}),
                        {.t1 = 1, .dt0 = 0.5}, eddy::ConstantController{}, backend);
        return std::pair(solution.result(0), solution.outcomes()[0].component);
    };
    const auto check = [&](const auto& backend) {
        // 1/(γh) = 8.
        CHECK(outcome(grows, 8, backend) == std::pair(eddy::Result::singular_matrix, 1));
        CHECK(outcome(grows, 7, backend).first == eddy::Result::success);
        CHECK(outcome(rotates, 1e10, backend).first == eddy::Result::singular_matrix);
        CHECK(outcome(rotates, 1e4, backend).first == eddy::Result::success);
    };
    check(eddy::Serial{});
    check(eddy::Cpu{.threads = 1});

    // With steps of its own the first one makes smaller ones.
    const auto adaptive = eddy::solve(grows, eddy::Rodas4{}, support::rows({{1, 1}}),
                                      support::rows({{8}}), {.t1 = 1, .dt0 = 0.5});
    CHECK(adaptive.result(0) == eddy::Result::success);
    CHECK(adaptive.y()(0, 1) == Approx(std::exp(8)).epsilon(1e-5));
}

TEST_CASE("stiff: a save point within a step is as exact as the steps") {
    eddy::SolveOptions options{.t1 = 40, .rtol = 1e-7, .atol = 1e-13, .save_at = {0.37, 3.3, 29}};
    const auto solve = [&] {
        return eddy::solve(support::Robertson{}, eddy::Rodas5P{}, row(support::Robertson::y0),
                           row(support::Robertson::p0), options);
    };
    const auto within = solve();
    options.step_to = options.save_at;
    options.rtol = 1e-10;
    const auto exact = solve();

    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i)
            CHECK(within.y(k)(0, i) == Approx(exact.y(k)(0, i)).epsilon(5e-6));
    }
}

TEST_CASE("stiff: steps of constant size, and states of single precision") {
    using support::Hires;
    eddy::EnsembleArray<float> y0(1, 8), p(1, 3);
    for (int i = 0; i < 8; ++i) y0(0, i) = static_cast<float>(Hires::y0[i]);
    for (int i = 0; i < 3; ++i) p(0, i) = static_cast<float>(Hires::p0[i]);
    const auto single =
        eddy::solve(Hires{}, eddy::Rodas3{}, y0, p, {.t1 = 321.8122, .rtol = 1e-3, .atol = 1e-7});
    CHECK(single.result(0) == eddy::Result::success);
    CHECK(single.y()(0, 5) == Approx(hires_end[5]).epsilon(2e-2));

    const auto constant = eddy::solve(Hires{}, eddy::Rodas3{}, row(Hires::y0), row(Hires::p0),
                                      {.t1 = 321.8122, .dt0 = 0.05}, eddy::ConstantController{});
    CHECK(constant.result(0) == eddy::Result::success);
    CHECK(constant.y()(0, 0) == Approx(hires_end[0]).epsilon(1e-3));
}
