// Gradients of stiff solves: exact ones, forward mode, times, and the same bits whatever is kept. References that need no packs go
// over rows, for which no equation is compiled.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/rows.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/pullback.hpp>
#include <eddy/solvers/rodas4.hpp>
#include <eddy/solvers/rodas5p.hpp>

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

TEST_CASE("stiff gradients: Van der Pol's sensitivities to 20 digits, for μ = 1000") {
    const Array y0 = repeated(2, std::initializer_list<double>{2, 0}), p = rows({{1000}, {1000}});
    const auto solution = eddy::solve(support::VanDerPol{}, eddy::Rodas5P{}, y0, p,
                                      {.t1 = 2, .rtol = 1e-10, .atol = 1e-10}, eddy::Rows{});

    const auto gradient = eddy::pullback(solution, rows({{1, 0}, {0, 1}}));

    CHECK(gradient.p(0, 0) == Approx(-3.651715219862500368e-5).epsilon(1e-6));
    CHECK(gradient.p(1, 0) == Approx(-3.402934248972045219e-5).epsilon(1e-6));
    CHECK(gradient.y0(0, 0) == Approx(1.253393704927033815).epsilon(1e-6));
    CHECK(gradient.y0(1, 0) == Approx(1.155496651120515977).epsilon(1e-6));
    CHECK(gradient.y0(0, 1) == Approx(4.178443408388386963e-4).epsilon(1e-6));
    CHECK(gradient.y0(1, 1) == Approx(3.852083624091958781e-4).epsilon(1e-6));
}

TEST_CASE("stiff gradients: reverse mode is forward mode, over eleven decades of time") {
    const Array y0 = repeated(1, Robertson::y0), p = repeated(1, Robertson::p0);
    const Array data = rows({{0.1, 0.2, 0.3}});
    for (const double t1 : {40., 1e11}) {
        const eddy::SolveOptions options{.t1 = t1, .rtol = 1e-5, .atol = 1e-12};
        const auto reverse = eddy::value_and_gradient(Robertson{}, eddy::Rodas5P{}, HalfSquares{},
                                                      data, y0, p, options);
        // At the end the matrix is singular but for 1/h: derivatives by rates, of 1e-6 beside those by
        // the start, of 1, are what is left when their sums cancel.
        const double tolerance = t1 < 100 ? 1e-12 : 1e-6;
        for (int direction = 0; direction < 6; ++direction) {
            Array y0_tangent(1, 3), p_tangent(1, 3);
            (direction < 3 ? y0_tangent : p_tangent)(0, direction % 3) = 1;
            const auto forward = eddy::pushforward(Robertson{}, eddy::Rodas5P{}, y0, p, y0_tangent,
                                                   p_tangent, options);
            double slope = 0;
            for (int i = 0; i < 3; ++i)
                slope += (forward.y()(0, i) - data(0, i)) * forward.tangent()(0, i);
            const double got = direction < 3 ? reverse.gradient.y0(0, direction)
                                             : reverse.gradient.p(0, direction - 3);
            CAPTURE(t1, direction);
            CHECK(got == Approx(slope).epsilon(tolerance));
            const double largest = std::abs(reverse.gradient.y0(0, 2));
            CHECK(std::abs(got - slope) <= (t1 < 100 ? 1e-12 : 1e-8) * largest);
        }
    }
}

TEST_CASE("stiff gradients: Robertson's by rates over nine decades, as SUNDIALS prints them") {
    // Output of its example cvsRoberts_FSA_dns, five digits: of y by each rate at t = 0.4, 4, 40 and 400.
    constexpr double published[3][4][3] = {{{-3.5595e-01, 3.9025e-04, 3.5556e-01},
                                            {-1.8761e+00, 1.7922e-04, 1.8759e+00},
                                            {-4.2475e+00, 4.5913e-05, 4.2475e+00},
                                            {-5.9584e+00, 3.5431e-06, 5.9584e+00}},
                                           {{9.5431e-08, -2.1309e-10, -9.5218e-08},
                                            {2.9614e-06, -5.8305e-10, -2.9608e-06},
                                            {1.3731e-05, -2.3573e-10, -1.3730e-05},
                                            {2.2738e-05, -2.2605e-11, -2.2738e-05}},
                                           {{-1.5833e-11, -5.2900e-13, 1.6362e-11},
                                            {-4.9334e-10, -2.7626e-13, 4.9362e-10},
                                            {-2.2883e-09, -1.1380e-13, 2.2884e-09},
                                            {-3.7896e-09, -4.9948e-14, 3.7897e-09}}};
    const Array y0 = repeated(1, Robertson::y0), p = repeated(1, Robertson::p0);
    double t1 = 0.4;
    for (int time = 0; time < 4; ++time) {
        const auto solution = eddy::solve(Robertson{}, eddy::Rodas5P{}, y0, p,
                                          {.t1 = t1, .rtol = 1e-8, .atol = 1e-14}, eddy::Rows{});
        for (int i = 0; i < 3; ++i) {
            Array cotangent(1, 3);
            cotangent(0, i) = 1;
            const auto gradient = eddy::pullback(solution, cotangent);
            for (int rate = 0; rate < 3; ++rate) {
                CAPTURE(t1, i, rate);
                CHECK(gradient.p(0, rate) == Approx(published[rate][time][i]).epsilon(2e-4));
            }
        }
        t1 *= 10;
    }
}

TEST_CASE("stiff gradients: the same bits in packs, and with 1, 3 or all checkpoints") {
    constexpr int lanes = 19;
    Array y0 = repeated(lanes, Robertson::y0), p = repeated(lanes, Robertson::p0);
    for (int lane = 0; lane < lanes; ++lane) p(lane, 0) *= std::pow(10., 0.1 * lane);
    const std::vector<Array> data(3, rows({{0.5, 0, 0.5}}));
    eddy::SolveOptions options{.t1 = 1e3, .rtol = 1e-4, .atol = 1e-9, .save_at = {0.3, 11, 1e3}};
    const auto gradient = [&](const auto& backend) {
        return eddy::value_and_gradient(Robertson{}, eddy::Rodas4{}, HalfSquares{}, data, y0, p,
                                        options, backend);
    };
    const auto kept = gradient(eddy::Serial{});

    for (const std::int64_t checkpoints : {1, 3, 0}) {
        options.checkpoints = checkpoints;
        for (const bool packed : {false, true}) {
            const auto other =
                packed ? gradient(eddy::Cpu{.threads = 1}) : gradient(eddy::Serial{});
            CAPTURE(checkpoints, packed);
            for (int lane = 0; lane < lanes; ++lane) {
                CHECK(kept.loss(lane) == other.loss(lane));
                CHECK(support::same_row(kept.gradient.y0, lane, other.gradient.y0, lane));
                CHECK(support::same_row(kept.gradient.p, lane, other.gradient.p, lane));
            }
        }
    }
}

TEST_CASE("stiff gradients: start, end and save times, against differences of exact solutions") {
    const Array y0 = rows({{1, 0.4}}), p = rows({{300, 0.7}});
    const Array data = rows({{0.1, 0.2}});
    const std::vector<Array> both{data, data};
    const auto options = [](double t0, double save, double t1) {
        return eddy::SolveOptions{
            .t0 = t0, .t1 = t1, .rtol = 1e-11, .atol = 1e-13, .save_at = {save, t1}};
    };
    const auto loss = [&](double t0, double save, double t1) {
        return eddy::value_and_gradient(Driven{}, eddy::Rodas5P{}, HalfSquares{}, both, y0, p,
                                        options(t0, save, t1), eddy::Rows{})
            .loss(0);
    };

    const auto result =
        eddy::value_and_gradient(Driven{}, eddy::Rodas5P{}, HalfSquares{}, both, y0, p,
                                 options(0.2, 1.1, 2), eddy::differentiate_times);

    const double h = 1e-4;  // differences are wrong by 1e-8
    CHECK(result.gradient.t0(0) ==
          Approx((loss(0.2 + h, 1.1, 2) - loss(0.2 - h, 1.1, 2)) / (2 * h)).epsilon(1e-4));
    CHECK(result.gradient.save_at(0, 0) ==
          Approx((loss(0.2, 1.1 + h, 2) - loss(0.2, 1.1 - h, 2)) / (2 * h)).epsilon(1e-5));
    CHECK(result.gradient.t1(0) + result.gradient.save_at(0, 1) ==
          Approx((loss(0.2, 1.1, 2 + h) - loss(0.2, 1.1, 2 - h)) / (2 * h)).epsilon(1e-5));
}

TEST_CASE("stiff gradients: products with the Hessian are differences of gradients") {
    const Array y0 = rows({{1, 0.4}}), p = rows({{300, 0.7}}), data = rows({{0.1, 0.2}});
    const Array y0_tangent = rows({{0.3, -0.2}}), p_tangent = rows({{20, 0.5}});
    // Steps of one size: those of a controller would change with the differences.
    const eddy::SolveOptions options{.t1 = 1, .dt0 = 0.05};
    const eddy::ConstantController constant;

    const auto second =
        eddy::hessian_vector_product(Driven{}, eddy::Rodas4{}, HalfSquares{}, data, y0, p,
                                     y0_tangent, p_tangent, options, constant);

    const auto gradient = [&](double step) {
        return eddy::value_and_gradient(Driven{}, eddy::Rodas4{}, HalfSquares{}, data,
                                        rows({{1 + 0.3 * step, 0.4 - 0.2 * step}}),
                                        rows({{300 + 20 * step, 0.7 + 0.5 * step}}), options,
                                        constant, eddy::Rows{})
            .gradient;
    };
    const double h = 1e-4;
    const auto more = gradient(h), less = gradient(-h);
    for (int i = 0; i < 2; ++i) {
        CHECK(second.product.y0(0, i) ==
              Approx((more.y0(0, i) - less.y0(0, i)) / (2 * h)).epsilon(1e-6).margin(1e-9));
        CHECK(second.product.p(0, i) ==
              Approx((more.p(0, i) - less.p(0, i)) / (2 * h)).epsilon(1e-6).margin(1e-9));
    }
}
