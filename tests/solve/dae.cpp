// Mass matrices: differential-algebraic equations of index 1 against exact solutions, and starts that
// are not consistent.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/solve.hpp>
#include <eddy/solvers/rodas3.hpp>
#include <eddy/solvers/rodas4.hpp>
#include <eddy/solvers/rodas5p.hpp>
#include <eddy/solvers/ros34pw2.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/dae_equations.hpp"

using support::Array, support::rows;

namespace {

struct Counted : support::Equilibrium {};
struct CountedStart : eddy::ConsistentStart<Counted> {
    static inline int solves = 0;
    template <class Number, class Parameters, class Real>
    static eddy::StartReport solve(double t, State<Number>& y, const Parameters& p,
                                   const eddy::StartTask<Real, size>& task) {
        ++solves;
        return eddy::ConsistentStart<Counted>::solve(t, y, p, task);
    }
};

}  // namespace

template <>
struct eddy::ChosenStart<Counted> {
    using type = CountedStart;
};

TEST_CASE("dae: Robertson's reactions with conservation as an equation, over eleven decades") {
    const Array y0 = rows({{1, 0, 0}}), p = rows({{0.04, 1e4, 3e7}});
    const eddy::SolveOptions options{
        .t1 = 1e11, .rtol = 1e-6, .atol = 1e-14, .save_at = {40, 1e11}};

    const auto solution = eddy::solve(support::RobertsonDae{}, eddy::Rodas5P{}, y0, p, options);

    REQUIRE(solution.result(0) == eddy::Result::success);
    constexpr double wanted[2][3] = {
        {0.7158270687193941, 9.185534764557340e-6, 0.2841637457458347},
        {2.08334014970129423e-8, 8.33336077033478340e-14, 9.99999979166515169e-1}};
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < 3; ++i)
            CHECK(solution.y(k)(0, i) == Approx(wanted[k][i]).epsilon(1e-5));
    }
    CHECK(std::abs(solution.y(1)(0, 0) + solution.y(1)(0, 1) + solution.y(1)(0, 2) - 1) < 1e-14);
    CHECK(solution.stats(0).accepted < 320);
}

TEST_CASE("dae: a start that is not consistent is made so, and is what is saved at t0") {
    const Array y0 = rows({{2, 77}}), p = rows({{0.7, 3}});
    const eddy::SolveOptions options{
        .t1 = 2, .rtol = 1e-8, .atol = 1e-10, .save_at = {0, 0.3, 2}, .save_steps = true};

    const auto solution = eddy::solve(support::Equilibrium{}, eddy::Rodas4{}, y0, p, options);

    REQUIRE(solution.success());
    for (int k = 0; k < 3; ++k) {
        const double all = 2 * std::exp(-0.7 * 0.75 * solution.t(k));
        CHECK(solution.y(k)(0, 0) == Approx(all).epsilon(1e-7));
        CHECK(solution.y(k)(0, 1) == Approx(0.75 * all).epsilon(1e-7));
    }
    CHECK(solution.step_y(0, 0, 1) == 1.5);
}

TEST_CASE("dae: a start is solved for once a trajectory, whoever asks for it") {
    const Array y0 = rows({{2, 77}, {1, 3}, {4, 0}}), p = rows({{0.7, 3}, {0.7, 3}, {0.5, 2}});

    const auto solution = eddy::solve(Counted{}, eddy::Rodas4{}, y0, p,
                                      {.t1 = 2, .save_steps = true}, eddy::Cpu{.threads = 1});

    REQUIRE(solution.success());
    CHECK(solution.step_y(2, 0, 1) == Approx(8. / 3));
    CHECK(CountedStart::solves == 3);
}

TEST_CASE("dae: a mass matrix that is not diagonal, rows without their own components, and time") {
    const double parameters[2] = {3, 0.4};
    // M y = 1.5 + 2 · 0.25 stays as it is; what else is given does not matter.
    const Array y0 = rows({{1.5, 0.25, -9}}), p = rows({{parameters[0], parameters[1]}});
    const eddy::SolveOptions options{
        .t0 = 0.5, .t1 = 2, .rtol = 1e-9, .atol = 1e-12, .save_at = {0.5, 0.6, 1.1, 2}};

    const auto check = [&](const auto& method, const auto& backend, double tolerance) {
        const auto solution = eddy::solve(support::Mixed{}, method, y0, p, options, backend);
        REQUIRE(solution.success());
        for (int k = 0; k < 4; ++k) {
            for (int i = 0; i < 3; ++i)
                CHECK(solution.y(k)(0, i) ==
                      Approx(support::Mixed::exact(i, 0.5, 2, parameters, solution.t(k)))
                          .epsilon(tolerance));
        }
    };
    check(eddy::Rodas5P{}, eddy::Serial{}, 1e-8);
    check(eddy::Rodas3{}, eddy::Cpu{.threads = 1}, 1e-6);
}

TEST_CASE("dae: constant steps converge in the order of the method, algebraic components too") {
    const Array y0 = rows({{1, 0.5, 0.1}}), p = rows({{2, 1.5}});
    const auto check = [&](const auto& method, const auto& backend, int order) {
        const auto end = [&](double dt) {
            const auto solution = eddy::solve(support::Cubic{}, method, y0, p, {.t1 = 1, .dt0 = dt},
                                              eddy::ConstantController{}, backend);
            return std::pair(solution.y()(0, 1), solution.y()(0, 2));
        };
        const auto exact = end(1. / 512), coarse = end(1. / 8), fine = end(1. / 16);
        CAPTURE(order);
        CHECK(std::log2(std::abs((coarse.first - exact.first) / (fine.first - exact.first))) >
              order - 0.5);
        CHECK(std::log2(std::abs((coarse.second - exact.second) / (fine.second - exact.second))) >
              order - 0.5);
    };
    check(eddy::Rodas5P{}, eddy::Cpu{.threads = 1}, 5);
    check(eddy::ROS34PW2{}, eddy::Serial{}, 3);
}

TEST_CASE("dae: a start without a solution ends its lane, names the component and harms nobody") {
    constexpr int lanes = 11;
    Array y0(lanes, 2), p(lanes, 1);
    for (int lane = 0; lane < lanes; ++lane) {
        y0(lane, 0) = 1;
        y0(lane, 1) = lane == 7 ? 0 : 1;  // there the derivative of y1² is 0
        p(lane, 0) = lane == 3 ? -1 : lane + 1;
    }
    const eddy::SolveOptions options{.t1 = 0.5, .save_at = {0, 0.5}};
    const auto solve = [&](const auto& backend) {
        return eddy::solve(support::SquareRoot{}, eddy::Rodas4{}, y0, p, options, backend);
    };
    const auto alone = solve(eddy::Serial{});
    const auto together = solve(eddy::Cpu{.threads = 2});

    for (int lane = 0; lane < lanes; ++lane) {
        CAPTURE(lane);
        const eddy::LaneFailure failure = together.failure(lane);
        const bool fails = lane == 3 || lane == 7;
        CHECK(failure.result == (fails ? eddy::Result::inconsistent_start : eddy::Result::success));
        CHECK(failure.component == (fails ? 1 : -1));
        CHECK(failure.result == alone.result(lane));
        CHECK(failure.component == alone.failure(lane).component);
        CHECK(failure.t == alone.failure(lane).t);
        CHECK(together.stats(lane).accepted == alone.stats(lane).accepted);
        CHECK(together.stats(lane).rejected == alone.stats(lane).rejected);
        CHECK(together.stats(lane).evaluations == alone.stats(lane).evaluations);
        for (int k = 0; k < 2; ++k) CHECK(support::same_row(alone.y(k), lane, together.y(k), lane));
        if (!fails)
            CHECK(together.y(1)(lane, 0) == Approx(1 - 0.5 * std::sqrt(lane + 1.)).epsilon(1e-6));
    }
    CHECK(together.stats(3).accepted + together.stats(3).rejected == 0);
}

TEST_CASE("dae: constant steps from a start without a solution end at once") {
    const auto solution =
        eddy::solve(support::SquareRoot{}, eddy::Rodas4{}, rows({{1, 1}, {1, 1}}),
                    rows({{-1}, {4}}), {.t1 = 1, .dt0 = 0.1}, eddy::ConstantController{});

    CHECK(solution.result(0) == eddy::Result::inconsistent_start);
    CHECK(solution.failure(0).component == 1);
    CHECK(solution.result(1) == eddy::Result::success);
    CHECK(solution.y()(1, 0) == Approx(-1));
}

TEST_CASE("dae: single precision") {
    const auto y0 = rows<float>({{2, 0}}), p = rows<float>({{0.7, 3}});

    const auto solution = eddy::solve(support::Equilibrium{}, eddy::Rodas3{}, y0, p,
                                      {.t1 = 2, .rtol = 1e-4, .atol = 1e-5});

    REQUIRE(solution.success());
    CHECK(static_cast<double>(solution.y()(0, 1)) ==
          Approx(1.5 * std::exp(-0.7 * 0.75 * 2)).epsilon(1e-3));
}

TEST_CASE("dae: impulses are refused, after which algebraic components would not fit") {
    CHECK_THROWS_WITH(
        eddy::solve(support::Equilibrium{}, eddy::Rodas4{}, rows({{2, 77}}), rows({{0.7, 3}}),
                    {.t1 = 1, .impulses = {.times = {0.5}, .amounts = 1}}),
        "solve: impulses of an equation with a singular mass matrix, whose algebraic components "
        "would no longer fit; leave them out, or eliminate these components");
}
