// Gradients of differential-algebraic equations: through the steps and through what makes the start
// consistent.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/rows.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/pullback.hpp>
#include <eddy/solvers/rodas5p.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/dae_equations.hpp"

namespace {

using support::Array, support::Cubic, support::HalfSquares, support::rows;

const Array cubic_y0 = rows({{1, 0.5, 0.1}}), cubic_p = rows({{2, 1.5}});

}  // namespace

TEST_CASE("dae gradients: those of the reduced equation, and zero by algebraic starts") {
    const double s = 2, k = 0.7, K = 3, t = 2;
    const auto solution = eddy::solve(support::Equilibrium{}, eddy::Rodas5P{}, rows({{s, -4}}),
                                      rows({{k, K}}), {.t1 = t, .rtol = 1e-10, .atol = 1e-12});

    const auto gradient = eddy::pullback(solution, rows({{0, 1}}));  // of y1 = K s E / (1 + K)

    const double part = K / (1 + K), decay = std::exp(-k * part * t);
    const double by_part = s * decay * (1 - part * k * t);
    CHECK(gradient.y0(0, 0) == Approx(part * decay).epsilon(1e-8));
    CHECK(gradient.y0(0, 1) == 0);
    CHECK(gradient.p(0, 0) == Approx(-t * part * part * s * decay).epsilon(1e-8));
    CHECK(gradient.p(0, 1) == Approx(by_part / ((1 + K) * (1 + K))).epsilon(1e-8));
}

TEST_CASE("dae gradients: Robertson's by conservation are those of the three reactions") {
    const auto solution =
        eddy::solve(support::RobertsonDae{}, eddy::Rodas5P{}, rows({{1, 0, 0}}),
                    rows({{0.04, 1e4, 3e7}}), {.t1 = 40, .rtol = 1e-9, .atol = 1e-14});

    const auto gradient = eddy::pullback(solution, rows({{1, 0, 0}}));

    // Of the ordinary equation, by the same method.
    constexpr auto reactions = eddy::field<3, 3>([](auto, const auto& y, const auto& p) {
        const auto first = p[0] * y[0], second = p[1] * y[1] * y[2], third = p[2] * y[1] * y[1];
        return eddy::vec(second - first, first - second - third, third);
    });
    const auto of_reactions = eddy::pullback(
        eddy::solve(reactions, eddy::Rodas5P{}, rows({{1, 0, 0}}), rows({{0.04, 1e4, 3e7}}),
                    {.t1 = 40, .rtol = 1e-9, .atol = 1e-14}, eddy::Rows{}),
        rows({{1, 0, 0}}));
    for (int i = 0; i < 3; ++i)
        CHECK(gradient.p(0, i) == Approx(of_reactions.p(0, i)).epsilon(1e-6));
    CHECK(gradient.y0(0, 2) == 0);
}

TEST_CASE("dae gradients: reverse mode is forward mode, whose states are those of a solve") {
    const eddy::SolveOptions options{
        .t1 = 1.5, .rtol = 1e-6, .atol = 1e-9, .save_at = {0, 0.4, 1.1, 1.5}};
    const std::vector<Array> data(4, rows({{0.1, 0.2, 0.3}}));
    const auto solution = eddy::solve(Cubic{}, eddy::Rodas5P{}, cubic_y0, cubic_p, options);

    const auto reverse = eddy::value_and_gradient(Cubic{}, eddy::Rodas5P{}, HalfSquares{}, data,
                                                  cubic_y0, cubic_p, options);

    for (int direction = 0; direction < 5; ++direction) {
        Array y0_tangent(1, 3), p_tangent(1, 2);
        (direction < 3 ? y0_tangent : p_tangent)(0, direction % 3) = 1;
        const auto forward = eddy::pushforward(Cubic{}, eddy::Rodas5P{}, cubic_y0, cubic_p,
                                               y0_tangent, p_tangent, options);
        double slope = 0;
        for (int k = 0; k < 4; ++k) {
            CHECK(support::same_array(forward.y(k), solution.y(k)));
            for (int i = 0; i < 3; ++i)
                slope += (forward.y(k)(0, i) - 0.1 * (i + 1)) * forward.tangent(k)(0, i);
        }
        const double got = direction < 3 ? reverse.gradient.y0(0, direction)
                                         : reverse.gradient.p(0, direction - 3);
        CAPTURE(direction);
        CHECK(got == Approx(slope).epsilon(1e-12).margin(1e-14));
    }
    CHECK(reverse.gradient.y0(0, 2) == 0);
}

TEST_CASE("dae gradients: start, end and save times") {
    const std::vector<Array> data(3, rows({{0.1, 0.2, 0.3}}));
    const auto options = [](double t0, double save, double t1) {
        return eddy::SolveOptions{
            .t0 = t0, .t1 = t1, .rtol = 1e-11, .atol = 1e-13, .save_at = {t0, save, t1}};
    };
    const auto run = [&](double t0, double save, double t1) {
        return eddy::value_and_gradient(Cubic{}, eddy::Rodas5P{}, HalfSquares{}, data, cubic_y0,
                                        cubic_p, options(t0, save, t1), eddy::differentiate_times,
                                        eddy::Serial{});
    };
    const auto loss = [&](double t0, double save, double t1) { return run(t0, save, t1).loss(0); };

    const auto gradient = run(0.2, 1.1, 2).gradient;

    const double h = 1e-4;
    // The first save point is at t0 and moves along with it.
    CHECK(gradient.t0(0) + gradient.save_at(0, 0) ==
          Approx((loss(0.2 + h, 1.1, 2) - loss(0.2 - h, 1.1, 2)) / (2 * h)).epsilon(1e-5));
    CHECK(gradient.save_at(0, 1) ==
          Approx((loss(0.2, 1.1 + h, 2) - loss(0.2, 1.1 - h, 2)) / (2 * h)).epsilon(1e-5));
    CHECK(gradient.t1(0) + gradient.save_at(0, 2) ==
          Approx((loss(0.2, 1.1, 2 + h) - loss(0.2, 1.1, 2 - h)) / (2 * h)).epsilon(1e-5));
    // The solution moves along its slope from t0 as it does a little later.
    const auto later = eddy::solve(
        Cubic{}, eddy::Rodas5P{}, cubic_y0, cubic_p,
        {.t0 = 0.2, .t1 = 0.2 + h, .rtol = 1e-11, .atol = 1e-13, .save_at = {0.2, 0.2 + h}});
    double along = 0;
    for (int i = 0; i < 3; ++i)
        along += (later.y(0)(0, i) - 0.1 * (i + 1)) * (later.y(1)(0, i) - later.y(0)(0, i)) / h;
    CHECK(gradient.save_at(0, 0) == Approx(along).epsilon(1e-3));
}

TEST_CASE("dae gradients: the same bits in packs, whatever is kept, failed lanes left out") {
    constexpr int lanes = 13;
    Array y0(lanes, 2), p(lanes, 1);
    for (int lane = 0; lane < lanes; ++lane) {
        y0(lane, 0) = y0(lane, 1) = 1;
        p(lane, 0) = lane == 3 ? -1 : lane + 1;
    }
    const Array data = rows({{0.5, 0.5}});
    eddy::SolveOptions options{.t1 = 0.5};
    const auto gradient = [&](const auto& backend) {
        return eddy::value_and_gradient(support::SquareRoot{}, eddy::Rodas5P{}, HalfSquares{}, data,
                                        y0, p, options, backend);
    };
    const auto kept = gradient(eddy::Serial{});

    options.checkpoints = 1;
    const auto packed = gradient(eddy::Cpu{.threads = 1});

    for (int lane = 0; lane < lanes; ++lane) {
        CAPTURE(lane);
        CHECK(kept.report.result(lane) == packed.report.result(lane));
        CHECK(support::same_row(kept.gradient.y0, lane, packed.gradient.y0, lane));
        CHECK(support::same_row(kept.gradient.p, lane, packed.gradient.p, lane));
        CHECK(packed.gradient.y0(lane, 1) == 0);
        if (lane == 3) {
            CHECK(packed.report.result(3) == eddy::Result::inconsistent_start);
            CHECK(packed.gradient.p(3, 0) == 0);
            continue;
        }
        const double root = std::sqrt(p(lane, 0)), end = 1 - 0.5 * root;
        CHECK(packed.gradient.y0(lane, 0) == Approx(end - 0.5).epsilon(1e-9).margin(1e-12));
        CHECK(packed.gradient.p(lane, 0) ==
              Approx((-0.5 * (end - 0.5) + root - 0.5) / (2 * root)).epsilon(1e-9));
    }
}

TEST_CASE("dae gradients: products with the Hessian are differences of gradients") {
    const Array data = rows({{0.1, 0.2, 0.3}}), y0_tangent = rows({{0.3, -0.2, 5}}),
                p_tangent = rows({{0.4, 0.5}});
    const eddy::SolveOptions options{.t1 = 1, .dt0 = 0.1};
    const eddy::ConstantController constant;

    const auto second =
        eddy::hessian_vector_product(Cubic{}, eddy::Rodas5P{}, HalfSquares{}, data, cubic_y0,
                                     cubic_p, y0_tangent, p_tangent, options, constant);

    const auto gradient = [&](double step) {
        return eddy::value_and_gradient(Cubic{}, eddy::Rodas5P{}, HalfSquares{}, data,
                                        rows({{1 + 0.3 * step, 0.5 - 0.2 * step, 0.1 + 5 * step}}),
                                        rows({{2 + 0.4 * step, 1.5 + 0.5 * step}}), options,
                                        constant)
            .gradient;
    };
    const double h = 1e-4;
    const auto more = gradient(h), less = gradient(-h);
    for (int i = 0; i < 3; ++i)
        CHECK(second.product.y0(0, i) ==
              Approx((more.y0(0, i) - less.y0(0, i)) / (2 * h)).epsilon(1e-6).margin(1e-9));
    for (int i = 0; i < 2; ++i)
        CHECK(second.product.p(0, i) ==
              Approx((more.p(0, i) - less.p(0, i)) / (2 * h)).epsilon(1e-6).margin(1e-9));
}
