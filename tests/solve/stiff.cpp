// Stiff equations by Rosenbrock methods: what comes of fast components, neighbours of all kinds, singular matrices, points within
// steps and single precision.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/kvaerno3.hpp>
#include <eddy/solvers/rodas3.hpp>
#include <eddy/solvers/rodas4.hpp>
#include <eddy/solvers/rodas5p.hpp>

#include "solve/stiff_references.hpp"

namespace {

using support::Array, support::row;

constexpr auto& hires_end = support::HiresEnd::end;

}  // namespace

TEST_CASE("stiff: Robertson at t = 40, and what is conserved stays so to rounding") {
    const auto solve = [](double t1, double rtol) {
        return eddy::solve(support::Robertson{}, eddy::Rodas5P{}, row(support::Robertson::y0),
                           row(support::Robertson::p0), {.t1 = t1, .rtol = rtol, .atol = 1e-14});
    };
    const auto early = solve(40, 1e-8);
    CHECK(early.y()(0, 0) == Approx(7.15827068719405090474e-1).epsilon(5e-7));
    CHECK(early.y()(0, 1) == Approx(9.18553476455776390390e-6).epsilon(5e-7));

    const auto end = solve(1e11, 1e-6);
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

TEST_CASE("stiff: no step is made from where derivatives are infinite") {
    constexpr auto fills = eddy::field<2, 1>([](auto, const auto& y, const auto& p) {
        return eddy::vec(p[0] - eddy::sqrt(y[0]), -y[1]);
    });
    const auto check = [&](const auto& method, const auto& backend) {
        const auto from = [&](double y) {
            return eddy::solve(fills, method, support::rows({{y, 1}}), support::rows({{1}}),
                               {.t1 = 1, .rtol = 1e-6, .atol = 1e-9}, backend);
        };
        const auto stays = from(0);
        CHECK(stays.result(0) == eddy::Result::non_finite);
        CHECK(stays.outcomes()[0].t == 0);
        CHECK(stays.outcomes()[0].component == 0);
        const auto goes = from(1e-12);
        CHECK(goes.result(0) == eddy::Result::success);
        CHECK(goes.y()(0, 0) == Approx(0.48760965).epsilon(1e-5));
    };
    check(eddy::Rodas5P{}, eddy::Serial{});
    check(eddy::Rodas5P{}, eddy::Cpu{.threads = 1});
    check(eddy::Kvaerno3{}, eddy::Serial{});
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
