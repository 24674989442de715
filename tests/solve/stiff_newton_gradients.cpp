// Gradients of stiff solves by diagonally implicit methods: the implicit function theorem forward and
// back, whatever Newton's iterations have left; times, Hessians, and the same bits whatever is kept. What needs no packs goes over
// rows, for which no equation is compiled.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/rows.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/pullback.hpp>
#include <eddy/solvers/kvaerno3.hpp>
#include <eddy/solvers/kvaerno5.hpp>
#include <eddy/solvers/trbdf2.hpp>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/stiff_equations.hpp"

namespace {

using support::Array, support::HalfSquares, support::Robertson, support::rows;

Array repeated(std::ptrdiff_t lanes, const auto& values) {
    Array array(lanes, static_cast<std::ptrdiff_t>(std::size(values)));
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        std::ptrdiff_t i = 0;
        for (const double value : values) array(lane, i++) = value;
    }
    return array;
}

/// A driven pair, stiff by p[0]: time, parameters and state meet everywhere.
struct Driven {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * (y[0] - eddy::cos(t) * y[1]), p[1] * y[0] * t - y[1] * y[1]);
    }
};

}  // namespace

TEST_CASE("Newton's gradients: Van der Pol's sensitivities to 20 digits, for μ = 1000") {
    const Array y0 = repeated(2, std::initializer_list<double>{2, 0}), p = rows({{1000}, {1000}});
    const eddy::SolveOptions options{.t1 = 2, .rtol = 1e-9, .atol = 1e-9};
    const auto solution =
        eddy::solve(support::VanDerPol{}, eddy::Kvaerno5{}, y0, p, options, eddy::Rows{});

    const auto gradient = eddy::pullback(solution, rows({{1, 0}, {0, 1}}));

    CHECK(gradient.p(0, 0) == Approx(-3.651715219862500368e-5).epsilon(1e-5));
    CHECK(gradient.p(1, 0) == Approx(-3.402934248972045219e-5).epsilon(1e-5));
    CHECK(gradient.y0(0, 0) == Approx(1.253393704927033815).epsilon(1e-5));
    CHECK(gradient.y0(1, 0) == Approx(1.155496651120515977).epsilon(1e-5));
    CHECK(gradient.y0(0, 1) == Approx(4.178443408388386963e-4).epsilon(1e-5));
    CHECK(gradient.y0(1, 1) == Approx(3.852083624091958781e-4).epsilon(1e-5));

    // What is pulled back is what was solved for, with the tolerance of its iterations.
    const eddy::Kvaerno5 careful{.newton_tolerance = 1e-4};
    const auto cotangents = rows({{1, 0}, {0, 1}});
    const auto of_careful = eddy::pullback(
        eddy::solve(support::VanDerPol{}, careful, y0, p, options, eddy::Rows{}), cotangents);
    auto solver = eddy::pullback_solver(support::VanDerPol{}, careful, options, eddy::Rows{});
    CHECK(support::same_row(of_careful.y0, 0, solver(cotangents, y0, p).gradient.y0, 0));
    CHECK(of_careful.y0(0, 0) != gradient.y0(0, 0));
    CHECK(of_careful.y0(0, 0) == Approx(gradient.y0(0, 0)).epsilon(1e-5));
}

TEST_CASE("Newton's gradients: reverse mode is forward mode, whose states are those of a solve") {
    const Array y0 = repeated(1, Robertson::y0), p = repeated(1, Robertson::p0);
    const Array data = rows({{0.1, 0.2, 0.3}});
    const eddy::SolveOptions options{.t1 = 40, .rtol = 1e-5, .atol = 1e-12};
    const auto check = [&](const auto& method, const auto& backend) {
        const auto reverse = eddy::value_and_gradient(Robertson{}, method, HalfSquares{}, data, y0,
                                                      p, options, backend);
        const auto solution = eddy::solve(Robertson{}, method, y0, p, options, backend);
        double largest = 0;
        for (int i = 0; i < 3; ++i)
            largest = std::max(
                {largest, std::abs(reverse.gradient.y0(0, i)), std::abs(reverse.gradient.p(0, i))});
        for (int direction = 0; direction < 6; ++direction) {
            Array y0_tangent(1, 3), p_tangent(1, 3);
            (direction < 3 ? y0_tangent : p_tangent)(0, direction % 3) = 1;
            const auto forward = eddy::pushforward(Robertson{}, method, y0, p, y0_tangent,
                                                   p_tangent, options, backend);
            CHECK(support::same_row(forward.y(), 0, solution.y(), 0));
            CHECK(forward.stats(0).rejected == solution.stats(0).rejected);
            double slope = 0;
            for (int i = 0; i < 3; ++i)
                slope += (forward.y()(0, i) - data(0, i)) * forward.tangent()(0, i);
            const double got = direction < 3 ? reverse.gradient.y0(0, direction)
                                             : reverse.gradient.p(0, direction - 3);
            CAPTURE(direction);
            CHECK(got == Approx(slope).epsilon(1e-10).margin(1e-12 * largest));
        }
    };
    check(eddy::TRBDF2{}, eddy::Rows{});
    check(eddy::Kvaerno5{}, eddy::Serial{});
}

TEST_CASE("Newton's gradients: the same bits in packs, and with 1, 3 or all checkpoints") {
    constexpr int lanes = 19;
    Array y0 = repeated(lanes, Robertson::y0), p = repeated(lanes, Robertson::p0);
    for (int lane = 0; lane < lanes; ++lane) p(lane, 0) *= std::pow(10., 0.1 * lane);
    const std::vector<Array> data(3, rows({{0.5, 0, 0.5}}));
    eddy::SolveOptions options{.t1 = 1e3, .rtol = 1e-3, .atol = 1e-8, .save_at = {0.3, 11, 1e3}};
    const auto gradient = [&](const auto& backend) {
        return eddy::value_and_gradient(Robertson{}, eddy::Kvaerno3{}, HalfSquares{}, data, y0, p,
                                        options, backend);
    };
    const auto kept = gradient(eddy::Serial{});

    for (const std::int64_t checkpoints : {1, 3, 0}) {
        options.checkpoints = checkpoints;
        const auto other = gradient(eddy::Cpu{.threads = 1});
        CAPTURE(checkpoints);
        for (int lane = 0; lane < lanes; ++lane) {
            CHECK(kept.loss(lane) == other.loss(lane));
            CHECK(support::same_row(kept.gradient.y0, lane, other.gradient.y0, lane));
            CHECK(support::same_row(kept.gradient.p, lane, other.gradient.p, lane));
        }
    }
}

TEST_CASE("Newton's gradients: start, end and save times, against differences of exact solutions") {
    const Array y0 = rows({{1, 0.4}}), p = rows({{300, 0.7}});
    const Array data = rows({{0.1, 0.2}});
    const std::vector<Array> both{data, data};
    const auto result_of = [&](double t0, double save, double t1) {
        return eddy::value_and_gradient(
            Driven{}, eddy::Kvaerno3{}, HalfSquares{}, both, y0, p,
            {.t0 = t0, .t1 = t1, .rtol = 1e-9, .atol = 1e-11, .save_at = {save, t1}},
            eddy::differentiate_times, eddy::Rows{});
    };
    const auto loss = [&](double t0, double save, double t1) {
        return result_of(t0, save, t1).loss(0);
    };

    const auto result = result_of(0.2, 1.1, 2);

    const double h = 1e-3;  // differences are wrong by 1e-6
    CHECK(result.gradient.t0(0) ==
          Approx((loss(0.2 + h, 1.1, 2) - loss(0.2 - h, 1.1, 2)) / (2 * h)).epsilon(1e-3));
    CHECK(result.gradient.save_at(0, 0) ==
          Approx((loss(0.2, 1.1 + h, 2) - loss(0.2, 1.1 - h, 2)) / (2 * h)).epsilon(1e-4));
    CHECK(result.gradient.t1(0) + result.gradient.save_at(0, 1) ==
          Approx((loss(0.2, 1.1, 2 + h) - loss(0.2, 1.1, 2 - h)) / (2 * h)).epsilon(1e-4));
}

TEST_CASE(
    "Newton's gradients: a save point on t1 or a jump moves along f, where steps land on all") {
    const Array y0 = rows({{1, 0.4}}), p = rows({{300, 0.7}});
    const std::vector<Array> data(2, rows({{0.1, 0.2}}));
    const std::vector<double> times{1.1, 2};
    const eddy::SolveOptions options{
        .t1 = 2, .rtol = 1e-5, .atol = 1e-7, .save_at = times, .jump_times = {1.1}};
    const eddy::Kvaerno5 method{.newton_tolerance = 1e-6};
    const auto check = [&](const auto& backend) {
        const auto solution = eddy::solve(Driven{}, method, y0, p, options, backend);
        const auto result = eddy::value_and_gradient(Driven{}, method, HalfSquares{}, data, y0, p,
                                                     options, eddy::differentiate_times, backend);
        for (int k = 0; k < 2; ++k) {
            const auto& y = solution.y(k);
            const double t = times[static_cast<std::size_t>(k)];
            const double slope[] = {-300 * (y(0, 0) - std::cos(t) * y(0, 1)),
                                    0.7 * y(0, 0) * t - y(0, 1) * y(0, 1)};
            const double along = (y(0, 0) - 0.1) * slope[0] + (y(0, 1) - 0.2) * slope[1];
            CHECK(result.gradient.save_at(0, k) == Approx(along).epsilon(1e-8));
        }
    };
    check(eddy::Serial{});
    check(eddy::Cpu{.threads = 1});
}

TEST_CASE(
    "Newton's gradients: products with the Hessian are differences of gradients, those of losses") {
    const Array y0 = rows({{1, 0.4}}), p = rows({{300, 0.7}}), data = rows({{0.1, 0.2}});
    const Array y0_tangent = rows({{0.3, -0.2}}), p_tangent = rows({{20, 0.5}});
    // Steps of one size: those of a controller would change with the differences.
    const eddy::SolveOptions options{.t1 = 1, .dt0 = 0.05};
    const eddy::ConstantController constant;
    const eddy::TRBDF2 method{.newton_tolerance =
                                  1e-9};  // leaves nothing of the iterations' errors

    const auto second =
        eddy::hessian_vector_product(Driven{}, method, HalfSquares{}, data, y0, p, y0_tangent,
                                     p_tangent, options, constant, eddy::Serial{});

    const auto at = [&](double step) {
        return eddy::value_and_gradient(
            Driven{}, method, HalfSquares{}, data, rows({{1 + 0.3 * step, 0.4 - 0.2 * step}}),
            rows({{300 + 20 * step, 0.7 + 0.5 * step}}), options, constant, eddy::Rows{});
    };
    const double h = 1e-4;
    const auto more = at(h), here = at(0), less = at(-h);
    const auto usual = eddy::value_and_gradient(Driven{}, eddy::TRBDF2{}, HalfSquares{}, data, y0,
                                                p, options, constant, eddy::Rows{});
    CHECK(usual.loss(0) != here.loss(0));
    CHECK(usual.loss(0) == Approx(here.loss(0)).epsilon(1e-4));
    const double slope = 0.3 * here.gradient.y0(0, 0) - 0.2 * here.gradient.y0(0, 1) +
                         20 * here.gradient.p(0, 0) + 0.5 * here.gradient.p(0, 1);
    CHECK(slope == Approx((more.loss(0) - less.loss(0)) / (2 * h)).epsilon(1e-6));
    for (int i = 0; i < 2; ++i) {
        CHECK(second.product.y0(0, i) ==
              Approx((more.gradient.y0(0, i) - less.gradient.y0(0, i)) / (2 * h))
                  .epsilon(1e-6)
                  .margin(1e-9));
        CHECK(second.product.p(0, i) ==
              Approx((more.gradient.p(0, i) - less.gradient.p(0, i)) / (2 * h))
                  .epsilon(1e-6)
                  .margin(1e-9));
    }
}
