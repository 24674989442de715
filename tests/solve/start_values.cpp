// Initial values that are functions of parameters: values of a call with an array of them, derivatives by the chain rule.

#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using support::Array, support::Forced, support::HalfSquares, support::same_array;

const eddy::SolveOptions options{
    .t0 = 0.25, .t1 = 2, .rtol = 1e-9, .atol = 1e-10, .save_at = {0.25, 2}};
const std::vector<Array> data(2, Array(1, 2, 0.4));

struct Start {
    constexpr auto operator()(auto t0, const auto& p) const {
        return eddy::vec(p[0] * p[1] + t0, eddy::exp(-p[0]));
    }
};
Array rates(double shift = 0) {
    Array p(3, 2);
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) {
        p(lane, 0) = 0.8 + 0.2 * static_cast<double>(lane) + shift;
        p(lane, 1) = 1.3 - 0.1 * static_cast<double>(lane) + 2 * shift;
    }
    return p;
}
Array values(const Array& p, double t0 = 0.25) {
    Array y(p.rows(), 2);
    for (std::ptrdiff_t lane = 0; lane < p.rows(); ++lane) {
        y(lane, 0) = p(lane, 0) * p(lane, 1) + t0;
        y(lane, 1) = std::exp(-p(lane, 0));
    }
    return y;
}
auto solver(const eddy::SolveOptions& asked = options) {
    return eddy::gradient_solver(Forced{}, eddy::Tsit5{}, HalfSquares{}, asked, eddy::Serial{});
}
const auto start = eddy::start_from(Start{});

}  // namespace

TEST_CASE("start_from: values are those of an array, gradients go on through the function") {
    const Array p = rates();
    const auto given = solver()(data, values(p), p);
    const auto found = eddy::value_and_gradient(Forced{}, eddy::Tsit5{}, HalfSquares{}, data, start,
                                                p, options, eddy::Serial{});

    CHECK(found.loss.total == given.loss.total);
    CHECK(same_array(found.gradient.y0, given.gradient.y0));
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) {
        const double a = given.gradient.y0(lane, 0), b = given.gradient.y0(lane, 1);
        CHECK(found.gradient.p(lane, 0) ==
              Approx(given.gradient.p(lane, 0) + a * p(lane, 1) - b * std::exp(-p(lane, 0))));
        CHECK(found.gradient.p(lane, 1) == Approx(given.gradient.p(lane, 1) + a * p(lane, 0)));
    }
    CHECK(same_array(eddy::solve(Forced{}, eddy::Tsit5{}, start, p, options, eddy::Serial{}).y(0),
                     values(p)));
}

TEST_CASE("start_from: second derivatives are differences of the first") {
    Array along(3, 2);
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) along(lane, 0) = 1, along(lane, 1) = 2;
    const double h = 1e-5;
    const auto more = solver()(data, start, rates(h)), less = solver()(data, start, rates(-h));

    const auto product = solver().hessian_vector_product(data, start, rates(), start, along);

    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) {
        for (int i = 0; i < 2; ++i)
            CHECK(product.product.p(lane, i) ==
                  Approx((more.gradient.p(lane, i) - less.gradient.p(lane, i)) / (2 * h))
                      .epsilon(1e-6));
    }
}

TEST_CASE("start_from: a pushforward goes through the function") {
    const Array p = rates();
    Array along(3, 2), of_start(3, 2);
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) {
        along(lane, 0) = 1, along(lane, 1) = 2;
        of_start(lane, 0) = p(lane, 1) + 2 * p(lane, 0);
        of_start(lane, 1) = -std::exp(-p(lane, 0));
    }
    const auto given = eddy::pushforward(Forced{}, eddy::Tsit5{}, values(p), p, of_start, along,
                                         options, eddy::Serial{});

    const auto found =
        eddy::pushforward(Forced{}, eddy::Tsit5{}, start, p, start, along, options, eddy::Serial{});

    CHECK(same_array(found.y(1), given.y(1)));
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) {
        CHECK(found.tangent(0)(lane, 0) == Approx(of_start(lane, 0)));
        CHECK(found.tangent(1)(lane, 0) == Approx(given.tangent(1)(lane, 0)));
        CHECK(found.tangent(1)(lane, 1) == Approx(given.tangent(1)(lane, 1)));
    }
}

TEST_CASE("start_from: shared parameters, those in tables, and t0") {
    const std::vector<double> row{0.9, 1.1}, last{1.1};
    Array copies(3, 2), first(3, 1, 0.9);
    for (std::ptrdiff_t lane = 0; lane < 3; ++lane) copies(lane, 0) = 0.9, copies(lane, 1) = 1.1;
    const auto of_copies = solver()(data, start, copies).gradient.p;

    const auto shared = solver()(data, eddy::start_from(Start{}, 3), eddy::shared(row)).gradient.p;
    const auto partly = solver()(data, start, eddy::parameters(first, last)).gradient;

    const double sum = of_copies(0, 1) + of_copies(1, 1) + of_copies(2, 1);
    CHECK(shared(0, 1) == Approx(sum));
    CHECK(partly.p(2, 0) == of_copies(2, 0));
    CHECK(partly.shared(0, 0) == Approx(sum));

    const auto by_t0 = [&](double t0) {
        eddy::SolveOptions asked = options;
        asked.t0 = t0;
        asked.save_at = {2};
        return eddy::value_and_gradient(Forced{}, eddy::Tsit5{}, HalfSquares{}, data[0], start,
                                        copies, asked, eddy::Serial{}, eddy::differentiate_times);
    };
    const double h = 1e-5;
    CHECK(by_t0(0.25).gradient.t0(1) ==
          Approx((by_t0(0.25 + h).loss(1) - by_t0(0.25 - h).loss(1)) / (2 * h)).epsilon(1e-5));
}

TEST_CASE("start_from: what does not fit is told before any work") {
    CHECK(
        support::message_of([] { (void)solver()(data, eddy::start_from(Start{}, 4), rates()); }) ==
        "value_and_gradient: start_from for 4 trajectories, but the parameters are of 3; leave the "
        "number out");
    CHECK(support::message_of([] { (void)solver()(data, start, Array(3, 1)); }) ==
          "value_and_gradient: p is 3 x 1 (trajectory, component); give 3 x 2");
}
