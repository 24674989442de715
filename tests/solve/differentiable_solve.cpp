// A solve as a Differentiable: alone, in scans and loops, composed, and computed again.

#include <cmath>
#include <cstdint>
#include <eddy/ad/linearize.hpp>
#include <eddy/ad/remat.hpp>
#include <eddy/ad/residuals.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/checkpoint/scan.hpp>
#include <eddy/checkpoint/while_loop.hpp>
#include <eddy/solve/call/differentiable_solve.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/rk4.hpp>
#include <eddy/trace/trace.hpp>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using eddy::Serial;
using eddy::Vec;
using support::Array;
using support::HalfSquares;
using support::LotkaVolterra;
using support::relative_error;
using support::rows;
using support::same_array;
using Row = Vec<double, 2>;
using RowOfP = Vec<double, 4>;

constexpr eddy::RK4 method;
const Array starts = rows({{1, 0.5}, {0.7, 1.2}, {1.5, 0.3}});
const Array rates = rows({{1.1, 0.9, 1, 0.8}, {0.8, 1.2, 0.9, 1}, {1, 1, 1.3, 0.6}});
const Array weights = rows({{1, -0.5}, {0.25, 2}, {-1, 0.75}});
const Row start{1, 0.5}, weight{1, -0.5};
const RowOfP rate{1.1, 0.9, 1, 0.8};

// Eight segments of 32 steps each; or all of it at once. Times are exact.
constexpr int segments = 8;
const eddy::SolveOptions one_segment{.t1 = 1, .dt0 = 1. / 32},
    whole{.t1 = segments, .dt0 = 1. / 32};
auto segment() {
    return eddy::differentiable_solve(LotkaVolterra{}, method, one_segment, Serial{});
}

using Segment = decltype(segment());
static_assert(eddy::Differentiable<Segment, Array, Array>);
static_assert(eddy::Differentiable<Segment, Array, RowOfP>);
static_assert(eddy::Differentiable<Segment, Row, RowOfP>);

Array array_of(const Vec<double, 2>& row) { return rows({{row[0], row[1]}}); }
Array array_of(const Vec<double, 4>& row) { return rows({{row[0], row[1], row[2], row[3]}}); }

/// The largest relative difference of two arrays.
double difference(const Array& a, const Array& b) {
    double largest = 0;
    for (std::ptrdiff_t lane = 0; lane < a.rows(); ++lane) {
        for (std::ptrdiff_t i = 0; i < a.cols(); ++i)
            largest = std::max(largest, relative_error(a(lane, i), b(lane, i)));
    }
    return largest;
}
double dot(const Array& a, const Array& b) {
    double sum = 0;
    for (std::ptrdiff_t lane = 0; lane < a.rows(); ++lane) {
        for (std::ptrdiff_t i = 0; i < a.cols(); ++i) sum += a(lane, i) * b(lane, i);
    }
    return sum;
}

/// Multiple shooting as a plain loop body: the state is carried from segment to segment.
struct Shooting {
    Segment solve;
    Array p, p_cotangent;

    Array advance(const Array& y, std::int64_t) const { return solve(y, p); }
    Array pullback(const Array& y, std::int64_t, const Array& cotangent) {
        const auto [of_y, of_p] = solve.linearize(y, p).pullback(cotangent);
        eddy::add_cotangent(p_cotangent, of_p);
        return of_y;
    }
};

/// A segment as the body of a scan: ((y, data), p) -> (next y, half its squared distance to data).
struct Measured {
    Segment solve;

    using Input = std::pair<Row, Row>;
    using Output = std::pair<Row, double>;
    struct Linearization {
        decltype(std::declval<Segment>().linearize(Row{}, RowOfP{})) end;
        Row distance;
        Output value;
        std::tuple<Input, RowOfP> pullback(const Output& cotangent) const {
            const auto [of_y, of_p] = end.pullback(cotangent.first + cotangent.second * distance);
            return {Input(of_y, -cotangent.second * distance), of_p};
        }
    };
    Output operator()(const Input& x, const RowOfP& p) const { return linearize(x, p).value; }
    Linearization linearize(const Input& x, const RowOfP& p) const {
        auto end = solve.linearize(x.first, p);
        const Row r = end.value - x.second;
        const Row y = end.value;
        return {std::move(end), r, {y, 0.5 * eddy::dot(r, r)}};
    }
};

}  // namespace

TEST_CASE("differentiable_solve: value and pullback are those of solve, for all kinds of states") {
    const Segment f = segment();
    const auto solution =
        eddy::solve(LotkaVolterra{}, method, starts, rates, one_segment, Serial{});
    const auto wanted = eddy::pullback(solution, weights);
    const auto shared_solution = eddy::solve(
        LotkaVolterra{}, method, starts, eddy::shared(std::span(rate.data)), one_segment, Serial{});
    const auto shared_wanted = eddy::pullback(shared_solution, weights);

    const auto own = f.linearize(starts, rates);
    const auto shared = f.linearize(starts, rate);
    const auto one = f.linearize(start, rate);

    CHECK(same_array(f(starts, rates), solution.y()));
    CHECK(same_array(own.value, solution.y()));
    for (int call = 0; call < 2; ++call) {
        const auto [of_y0, of_p] = own.pullback(weights);
        CHECK(same_array(of_y0, wanted.y0));
        CHECK(same_array(of_p, wanted.p));
    }
    CHECK(same_array(shared.value, shared_solution.y()));
    CHECK(same_array(std::get<0>(shared.pullback(weights)), shared_wanted.y0));
    CHECK(same_array(array_of(std::get<1>(shared.pullback(weights))), shared_wanted.p));
    CHECK(support::same_row(array_of(one.value), 0, solution.y(), 0));
    CHECK(support::same_row(array_of(std::get<0>(one.pullback(weight))), 0, wanted.y0, 0));
    CHECK(support::same_row(array_of(std::get<1>(one.pullback(weight))), 0, wanted.p, 0));
}

TEST_CASE("differentiable_solve: a linearization outlives what it came from") {
    const auto linearization = segment().linearize(starts, rates);
    const Segment f = segment();

    CHECK(same_array(std::get<0>(linearization.pullback(weights)),
                     std::get<0>(f.linearize(starts, rates).pullback(weights))));
}

TEST_CASE("differentiable_solve: multiple shooting in a scan is one unbroken solve") {
    const auto solution = eddy::solve(LotkaVolterra{}, method, starts, rates, whole, Serial{});
    const auto wanted = eddy::pullback(solution, weights);
    const auto pushed =
        eddy::pushforward(LotkaVolterra{}, method, starts, rates, weights, rates, whole, Serial{});
    Array first_y0, first_p;
    for (const eddy::LoopOptions& options : std::vector<eddy::LoopOptions>{
             {.placement = eddy::Placement::store_all}, {.checkpoints = 2}}) {
        auto scan = eddy::checkpoint_scan(Shooting{segment(), rates, Array(3, 4)}, starts, segments,
                                          options);

        const Array of_y0 = scan.reverse(weights);
        const Array& of_p = scan.body().p_cotangent;

        CHECK(difference(scan.last(), Array(solution.y())) < 1e-13);
        CHECK(difference(of_y0, wanted.y0) < 1e-12);
        CHECK(difference(of_p, wanted.p) < 1e-12);
        // Forward mode: along (weights, rates) the end moves by the tangent.
        const double along = dot(of_y0, weights) + dot(of_p, rates);
        CHECK(relative_error(along, dot(Array(pushed.tangent()), weights)) < 1e-12);
        if (first_y0.rows() > 0) {
            CHECK(same_array(of_y0, first_y0));
            CHECK(same_array(of_p, first_p));
        }
        first_y0 = of_y0, first_p = of_p;
    }
    // Central differences: h² times a third derivative of order one, and rounding of 1e-16 / h.
    const double h = 1e-5;
    const auto end = [&](double change) {
        Array p = rates;
        p(1, 2) += change;
        Array y = starts;
        for (int k = 0; k < segments; ++k) y = segment()(y, p);
        return dot(y, weights);
    };
    CHECK(relative_error(first_p(1, 2), (end(h) - end(-h)) / (2 * h)) < 1e-7);
}

TEST_CASE("differentiable_solve: the body of a while loop, parameters included") {
    const auto solution = eddy::solve(LotkaVolterra{}, method, starts, rates, whole, Serial{});
    const auto wanted = eddy::pullback(solution, weights);
    const auto loop =
        eddy::while_loop([](const Array&, std::int64_t step) { return step < segments; }, segment(),
                         {.checkpoints = 3});

    auto linearization = loop.linearize(starts, rates);
    const auto [of_y0, of_p] = linearization.pullback(weights);

    CHECK(same_array(linearization.value, loop(starts, rates)));
    CHECK(linearization.counters().recomputed > 0);
    CHECK(difference(of_y0, wanted.y0) < 1e-12);
    CHECK(difference(of_p, wanted.p) < 1e-12);
}

TEST_CASE("differentiable_solve: a scan with data is a loss over save points") {
    eddy::SolveOptions saving = whole;
    std::vector<Row> data;
    std::vector<Array> arrays;
    for (int k = 1; k <= segments; ++k) {
        saving.save_at.values.push_back(k);
        data.push_back({1 + 0.1 * k, 0.8 - 0.05 * k});
        arrays.push_back(array_of(data.back()));
    }
    const auto wanted = eddy::value_and_gradient(LotkaVolterra{}, method, HalfSquares{}, arrays,
                                                 array_of(start), array_of(rate), saving, Serial{});
    const auto scan = eddy::scan(Measured{segment()}, {.checkpoints = 3});

    auto linearization = scan.linearize(std::pair(start, data), rate);
    double loss = 0;
    for (const double term : linearization.value.second) loss += term;
    const auto [of_input, of_p] =
        linearization.pullback({Row{0, 0}, std::vector<double>(segments, 1.)});

    CHECK(relative_error(loss, wanted.loss.total) < 1e-13);
    CHECK(difference(array_of(of_input.first), wanted.gradient.y0) < 1e-12);
    CHECK(difference(array_of(of_p), wanted.gradient.p) < 1e-12);
}

TEST_CASE("differentiable_solve: composed with a program, and computed again, it is the same") {
    const auto half_square =
        eddy::trace<eddy::Vector<2>>([](const auto& y) { return 0.5 * eddy::dot(y, y); });
    const auto loss = eddy::compose(eddy::differentiable(half_square), segment());
    const auto wanted =
        eddy::value_and_gradient(LotkaVolterra{}, method, HalfSquares{}, Array(1, 2),
                                 array_of(start), array_of(rate), one_segment, Serial{});

    auto composed = loss.linearize(start, rate);
    const auto [of_y0, of_p] = composed.pullback(1.);
    const auto again = eddy::remat(segment());
    auto rematerialised = again.linearize(start, rate);

    CHECK(relative_error(composed.value, wanted.loss.total) < 1e-15);
    CHECK(difference(array_of(of_y0), wanted.gradient.y0) < 1e-15);
    CHECK(difference(array_of(of_p), wanted.gradient.p) < 1e-15);
    CHECK(again(start, rate) == segment()(start, rate));
    CHECK(rematerialised.value == again(start, rate));
    CHECK(rematerialised.pullback(weight) == segment().linearize(start, rate).pullback(weight));
}

TEST_CASE("row 20: a report and a drawing of a solve, in a scan and composed, have its equation") {
    const auto half_square =
        eddy::trace<eddy::Vector<2>>([](const auto& y) { return 0.5 * eddy::dot(y, y); });
    const auto loss = eddy::compose(half_square, eddy::remat(segment()));
    const std::string report = eddy::saved_residuals(loss), drawing = eddy::to_graphviz(loss);

    CHECK(report.rfind("compose\n"
                       "  remat, which keeps what goes in\n"
                       "    solve, which keeps y0 and p; the backward pass solves again\n"
                       "      program\n"
                       "        kept between forward and backward pass, per trajectory: ",
                       0) == 0);
    CHECK(support::mentions(report,
                            "\n  program\n"
                            "    kept between forward and backward pass, per trajectory: 0 bytes\n"
                            "    read again where it is\n"
                            "      double[2]  16 bytes  argument x0\n"));
    std::ostringstream out;
    eddy::print_saved_residuals<float>(eddy::scan(segment()), {}, {.out = &out});
    CHECK(support::mentions(out.str(), "scan, which keeps of each step"));
    CHECK(support::mentions(out.str(), "\n  solve, which keeps y0 and p"));
    CHECK(support::mentions(drawing, "label=\"solve\""));
    CHECK(support::mentions(drawing, "keeps y0 and p; the backward pass solves again"));
}

TEST_CASE("differentiable_solve: a lane that fails is NaN, and contributes nothing") {
    auto asked = one_segment;
    asked.max_steps = 10;
    const auto f = eddy::differentiable_solve(LotkaVolterra{}, method, asked, Serial{});

    const auto linearization = f.linearize(starts, rates);

    CHECK(std::isnan(linearization.value(1, 0)));
    CHECK(dot(std::get<0>(linearization.pullback(weights)), weights) == 0);
    CHECK(support::message_of([&] { static_cast<void>(f(linearization.value, rates)); }) ==
          "solve: y0(0, 0) = nan; give finite numbers");
}

TEST_CASE("differentiable_solve: save points are refused, and a copy works on its own") {
    auto asked = one_segment;
    asked.save_at = {0.5, 1};
    CHECK(support::message_of([&] {
              static_cast<void>(
                  eddy::differentiable_solve(LotkaVolterra{}, method, asked, Serial{}));
          }) ==
          "differentiable_solve: save_at has 2 times, but the value is only the state at t1; "
          "leave it out, or take segments in a scan");

    Segment f = segment();
    const Segment copy = f;
    const Array end = f(starts, rates);
    Segment other = std::move(f);
    CHECK(same_array(copy(starts, rates), end));
    f = other;
    CHECK(same_array(f(starts, rates), end));
}
