// What users pass and get: Eigen arrays of every layout, vectors, views; and memory that solvers
// keep. A program of its own: it counts every allocation of the process.

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/rows.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/counting_new.hpp"
#include "support/message_of.hpp"

namespace {

using eddy::SolveOptions;
using support::allocations_of;
using support::Array;
using support::HalfSquares;
using support::LotkaVolterra;
using support::same_array;

using RowMajor = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Prey and predators together, and their product: what is seen of the state.
struct Seen {
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(y[0] + y[1], p[0] * y[0] * y[1], t * y[0]);
    }
};
/// A single number.
struct Total {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] + y[1]; }
};

const eddy::Cpu one_thread{.threads = 1};
const SolveOptions options{.t1 = 2, .rtol = 1e-4, .save_at = {0.5, 2}};

template <class Y0, class Parameters, class... Extras>
auto solve_lanes(const Y0& y0, const Parameters& p, const Extras&... extras) {
    return eddy::solve(LotkaVolterra{}, eddy::Bosh3{}, y0, p, options, one_thread, extras...);
}

struct Ensemble {
    Eigen::ArrayXXd y0{9, 2}, p{9, 4};
};
Ensemble nine_lanes() {
    Ensemble lanes;
    for (int lane = 0; lane < 9; ++lane) {
        lanes.y0.row(lane) << 1 + 0.1 * lane, 1.2 - 0.05 * lane;
        lanes.p.row(lane) << 1.5, 1, 3 - 0.1 * lane, 1;
    }
    return lanes;
}

template <class A, class B>
bool same_solution(const A& a, const B& b) {
    return same_array(a.y(0), b.y(0)) && same_array(a.y(1), b.y(1));
}

}  // namespace

TEST_CASE("arrays: Eigen arrays of every layout give the same solution") {
    const auto [y0, p] = nine_lanes();
    const auto wanted = solve_lanes(y0, p);
    const RowMajor y0_by_rows = y0, p_by_rows = p;
    const Eigen::MatrixXd y0_matrix = y0, p_matrix = p;
    const Eigen::Array<double, 9, 2> fixed = y0;

    CHECK(same_solution(solve_lanes(y0_by_rows, p_by_rows), wanted));
    CHECK(same_solution(solve_lanes(y0_matrix, p_matrix), wanted));
    CHECK(same_solution(solve_lanes(fixed, p), wanted));
    CHECK(wanted.y(1)(3, 0) != wanted.y(1)(4, 0));
}

TEST_CASE("arrays: blocks, references and maps with strides are taken where they are") {
    const auto [y0, p] = nine_lanes();
    const auto wanted = solve_lanes(y0, p);
    Eigen::ArrayXXd large = Eigen::ArrayXXd::Constant(20, 10, -1e300);
    large.block(4, 3, 9, 2) = y0;
    large.block(1, 6, 9, 4) = p;
    RowMajor spread = RowMajor::Constant(18, 12, -1e300);
    for (int lane = 0; lane < 9; ++lane) {
        for (int i = 0; i < 2; ++i) spread(2 * lane, 3 * i) = y0(lane, i);
    }
    using Strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
    const Eigen::Map<const RowMajor, 0, Strides> map(spread.data(), 9, 2, Strides(24, 3));
    const Eigen::Ref<const Eigen::ArrayXXd, 0, Eigen::OuterStride<>> reference =
        large.block(4, 3, 9, 2);

    CHECK(same_solution(solve_lanes(large.block(4, 3, 9, 2), large.block(1, 6, 9, 4)), wanted));
    CHECK(same_solution(solve_lanes(map, p), wanted));
    CHECK(same_solution(solve_lanes(reference, p), wanted));
}

TEST_CASE("arrays: arrays and views of our own") {
    const auto [y0, p] = nine_lanes();
    const auto wanted = solve_lanes(y0, p);
    support::Array own_y0(9, 2), own_p(9, 4);
    std::vector<double> backwards(18);
    for (int lane = 0; lane < 9; ++lane) {
        for (int i = 0; i < 2; ++i) {
            own_y0(lane, i) = y0(lane, i);
            backwards[static_cast<std::size_t>(17 - 2 * lane - i)] = y0(lane, i);
        }
        for (int i = 0; i < 4; ++i) own_p(lane, i) = p(lane, i);
    }
    const eddy::EnsembleView<double> view{backwards.data() + 17, 9, 2, -2, -1};

    CHECK(same_solution(solve_lanes(own_y0, own_p), wanted));
    CHECK(same_solution(solve_lanes(view, own_p.view()), wanted));
}

TEST_CASE("arrays: numbers of lanes are a column") {
    eddy::LaneValues<double> of_lanes;
    of_lanes.assign(7, 1, 0.5);
    const auto view = eddy::ensemble_view(of_lanes);
    CHECK(view.rows() == 7);
    CHECK(view.cols() == 1);
}

TEST_CASE("arrays: a vector is one lane") {
    const auto [y0, p] = nine_lanes();
    const Eigen::ArrayXXd first_y0 = y0.row(0), first_p = p.row(0);
    const auto wanted = solve_lanes(first_y0, first_p);
    const Eigen::VectorXd column_y0{{1, 1.2}}, column_p{{1.5, 1, 3, 1}};
    const std::vector<double> plain_y0{1, 1.2}, plain_p{1.5, 1, 3, 1};
    const std::array<double, 2> array_y0{1, 1.2};

    CHECK(wanted.num_lanes() == 1);
    CHECK(same_solution(solve_lanes(column_y0, column_p), wanted));
    CHECK(same_solution(solve_lanes(plain_y0, plain_p), wanted));
    CHECK(same_solution(solve_lanes(array_y0, plain_p), wanted));
    CHECK(same_solution(solve_lanes(y0.row(0), p.row(0)), wanted));
}

TEST_CASE("arrays: an array that was moved from is empty") {
    Array from(3, 2, 0.5), other(5, 1), taken(3, 2, 1.);

    const Array to = std::move(from);
    other = std::move(taken);

    CHECK(to.rows() == 3);
    CHECK(to(2, 1) == 0.5);
    CHECK(from.rows() == 0);
    CHECK(from.cols() == 0);
    CHECK(other(2, 1) == 1);
    CHECK(taken.rows() == 0);
    CHECK_THROWS_WITH(solve_lanes(from, to),
                      "solve: y0 is 0 x 0 (trajectory, component); give 0 x 2");
}

TEST_CASE("arrays: sizes below none, and beyond any memory, are refused") {
    const auto said = [](std::ptrdiff_t lanes, std::ptrdiff_t components) {
        return support::message_of([=] { const Array array(lanes, components); });
    };
    constexpr std::ptrdiff_t many = std::ptrdiff_t{1} << 33;

    CHECK(said(-1, 2) ==
          "EnsembleArray: -1 x 2 (trajectory, component); give sizes of at least 0 that memory can "
          "hold");
    CHECK(support::mentions(said(-1, -2), "EnsembleArray: -1 x -2 "));
    CHECK(support::mentions(said(many, many), "that memory can hold"));
    CHECK(said(0, 2).empty());
    CHECK(said(many, 0).empty());
}

TEST_CASE("arrays: a view of fewer lanes than none is refused") {
    const auto [y0, p] = nine_lanes();
    const eddy::EnsembleView<const double> view{y0.data(), -3, 2, 1, 9};
    CHECK_THROWS_WITH(solve_lanes(view, p),
                      "solve: y0 is -3 x 2 (trajectory, component); give 0 x 2");
}

TEST_CASE("arrays: times and tolerances come from spans, and rows and columns of tables") {
    Eigen::ArrayXXd table(2, 3);
    table << 1, 2, 3,  //
        4, 5, 6;
    const RowMajor rows = table;
    const std::array<double, 2> two{7, 8};
    using Numbers = std::vector<double>;

    CHECK(eddy::Times(table.row(1)).values == Numbers{4, 5, 6});
    CHECK(eddy::Times(rows.col(2)).values == Numbers{3, 6});
    CHECK(eddy::Times(table.rightCols(2).row(0)).values == Numbers{2, 3});
    CHECK(eddy::Times(table.bottomRows(1)).values == Numbers{4, 5, 6});
    CHECK(eddy::Tolerance(table.row(0)).values == Numbers{1, 2, 3});
    CHECK(eddy::Tolerance(two).values == Numbers{7, 8});
    CHECK(eddy::Tolerance(std::span(two)).values == Numbers{7, 8});
    CHECK(eddy::Tolerance(3).values == Numbers{3});
}

TEST_CASE("arrays: shared parameters are a row for every lane") {
    const auto [y0, p] = nine_lanes();
    const Eigen::ArrayXXd repeated = p.row(2).replicate(9, 1);
    const auto wanted = solve_lanes(y0, repeated);
    const Eigen::VectorXd column = p.row(2).matrix().transpose();
    const std::vector<double> plain(column.data(), column.data() + 4);

    CHECK(same_solution(solve_lanes(y0, eddy::shared(column)), wanted));
    CHECK(same_solution(solve_lanes(y0, eddy::shared(plain)), wanted));
    CHECK(same_solution(solve_lanes(y0, eddy::shared(p.row(2))), wanted));  // strided
}

TEST_CASE("arrays: results become Eigen arrays") {
    const auto [y0, p] = nine_lanes();
    const auto solution = solve_lanes(y0, p);
    const Eigen::ArrayXXd array = solution.y(1);
    const Eigen::MatrixXd matrix = solution.y(1);
    const RowMajor by_rows = solution.y(1);
    std::vector<Eigen::ArrayXXd> cotangents(2, array);
    const eddy::Gradient<double> gradient = eddy::pullback(solution, cotangents);
    const Eigen::ArrayXXd by_p = gradient.p;

    CHECK(array.rows() == 9);
    CHECK(same_array(array, solution.y(1)));
    CHECK(same_array(matrix, array));
    CHECK(same_array(by_rows, array));
    CHECK(same_array(by_p, gradient.p));
    CHECK(by_p(4, 3) != 0);
}

TEST_CASE("arrays: data of one row is shared by all lanes, at each save point or at some") {
    const Ensemble lanes = nine_lanes();
    const Eigen::ArrayXXd row = Eigen::ArrayXXd::Constant(1, 2, 0.75);
    const Eigen::ArrayXXd repeated = row.replicate(9, 1);
    const RowMajor by_rows = repeated;
    const auto differentiate = [&](const auto& data) {
        return eddy::value_and_gradient(LotkaVolterra{}, eddy::Bosh3{}, HalfSquares{}, data,
                                        lanes.y0, lanes.p, options, one_thread);
    };

    const auto wanted = differentiate(std::vector{repeated, repeated});

    for (const auto& result :
         {differentiate(std::vector{row, row}), differentiate(std::vector{row, repeated}),
          differentiate(std::vector{by_rows, by_rows})}) {
        CHECK(result.loss.total == wanted.loss.total);
        CHECK(same_array(result.gradient.p, wanted.gradient.p));
        CHECK(same_array(result.gradient.y0, wanted.gradient.y0));
    }
    CHECK(wanted.loss.total > 0);
    const auto over_rows = eddy::value_and_gradient(LotkaVolterra{}, eddy::Bosh3{}, HalfSquares{},
                                                    std::vector{row, repeated}, lanes.y0, lanes.p,
                                                    options, eddy::Rows{.threads = 1});
    // The steps are the same; sums may be contracted in one of both.
    CHECK(std::abs(over_rows.loss.total - wanted.loss.total) <= 1e-13 * wanted.loss.total);
}

TEST_CASE("arrays: a function of the state is saved in its place, and pulled back through") {
    const auto [y0, p] = nine_lanes();
    const auto states = solve_lanes(y0, p);
    const auto seen = solve_lanes(y0, p, eddy::observe(Seen{}));
    const auto total = solve_lanes(y0, p, eddy::observe(Total{}));
    // Cotangents of what is seen at 0.5 and 2, and the same as cotangents of the state.
    const Eigen::ArrayXXd of_seen =
        Eigen::ArrayXXd::NullaryExpr(9, 3, [](Eigen::Index lane, Eigen::Index i) {
            return 0.1 * double(lane) - 0.3 * double(i) + 0.2;
        });
    std::vector<Eigen::ArrayXXd> of_state;
    for (int k = 0; k < 2; ++k) {
        Eigen::ArrayXXd cotangent(9, 2);
        const Eigen::ArrayXXd y = states.y(k);
        cotangent.col(0) =
            of_seen.col(0) + of_seen.col(1) * p.col(0) * y.col(1) + of_seen.col(2) * states.t(k);
        cotangent.col(1) = of_seen.col(0) + of_seen.col(1) * p.col(0) * y.col(0);
        of_state.push_back(cotangent);
    }

    const auto through = eddy::pullback(seen, std::vector{of_seen, of_seen});
    const auto direct = eddy::pullback(states, of_state);

    REQUIRE(seen.y(1).cols() == 3);
    REQUIRE(total.y(1).cols() == 1);
    for (int lane = 0; lane < 9; ++lane) {
        for (int k = 0; k < 2; ++k) {
            const double prey = states.y(k)(lane, 0), predators = states.y(k)(lane, 1);
            CHECK(seen.y(k)(lane, 0) == prey + predators);
            CHECK(std::fabs(seen.y(k)(lane, 1) - p(lane, 0) * prey * predators) < 1e-14);
            CHECK(seen.y(k)(lane, 2) == states.t(k) * prey);
            CHECK(total.y(k)(lane, 0) == prey + predators);
        }
        for (int i = 0; i < 2; ++i)
            CHECK(std::fabs(through.y0(lane, i) - direct.y0(lane, i)) < 1e-13);
        for (int i = 1; i < 4; ++i)
            CHECK(std::fabs(through.p(lane, i) - direct.p(lane, i)) < 1e-13);
        // What is seen depends on the first parameter itself as well.
        double itself = 0;
        for (int k = 0; k < 2; ++k)
            itself += of_seen(lane, 1) * states.y(k)(lane, 0) * states.y(k)(lane, 1);
        CHECK(std::fabs(through.p(lane, 0) - direct.p(lane, 0) - itself) < 1e-13);
    }
}

TEST_CASE("arrays: the second call of a solver allocates nothing and gives the same") {
    const Ensemble lanes = nine_lanes();
    const auto wanted = solve_lanes(lanes.y0, lanes.p);
    auto solver = eddy::ensemble_solver(LotkaVolterra{}, eddy::Bosh3{}, options, one_thread);

    CHECK(allocations_of([&] { static_cast<void>(solver(lanes.y0, lanes.p)); }) > 0);
    CHECK(allocations_of([&] { static_cast<void>(solver(lanes.y0, lanes.p)); }) == 0);

    CHECK(same_solution(solver(lanes.y0, lanes.p), wanted));
}

TEST_CASE("arrays: the second gradient of a solver allocates nothing and gives the same") {
    const Ensemble lanes = nine_lanes();
    const std::vector<Eigen::ArrayXXd> data(2, Eigen::ArrayXXd::Constant(1, 2, 0.75));
    const auto wanted = eddy::value_and_gradient(LotkaVolterra{}, eddy::Bosh3{}, HalfSquares{},
                                                 data, lanes.y0, lanes.p, options, one_thread);
    for (const std::int64_t checkpoints : {0, 5}) {
        auto limited = options;
        limited.checkpoints = checkpoints;
        auto solver = eddy::gradient_solver(LotkaVolterra{}, eddy::Bosh3{}, HalfSquares{}, limited,
                                            one_thread);
        static_cast<void>(solver(data, lanes.y0, lanes.p));
        const std::int64_t allocations =
            allocations_of([&] { static_cast<void>(solver(data, lanes.y0, lanes.p)); });

        INFO(checkpoints << " checkpoints");
        CHECK(allocations == 0);
        CHECK(same_array(solver(data, lanes.y0, lanes.p).gradient.p, wanted.gradient.p));
        CHECK(solver(data, lanes.y0, lanes.p).loss.total == wanted.loss.total);
    }
}

TEST_CASE("arrays: the second pullback of a solver allocates nothing and gives the same") {
    const Ensemble lanes = nine_lanes();
    const auto check = [&](const auto& cotangents, const auto& p) {
        const auto solution = eddy::solve(LotkaVolterra{}, eddy::Bosh3{}, lanes.y0, p, options,
                                          one_thread, eddy::differentiate_times);
        const eddy::Gradient<double> wanted = eddy::pullback(solution, cotangents);
        auto solver = eddy::pullback_solver(LotkaVolterra{}, eddy::Bosh3{}, options, one_thread,
                                            eddy::differentiate_times);
        static_cast<void>(solver(cotangents, lanes.y0, p));

        CHECK(allocations_of([&] { static_cast<void>(solver(cotangents, lanes.y0, p)); }) == 0);
        const auto& [gradient, report] = solver(cotangents, lanes.y0, p);
        CHECK(same_array(gradient.y0, wanted.y0));
        CHECK(same_array(gradient.p, wanted.p));
        CHECK(same_array(gradient.t0.view(), wanted.t0.view()));
        CHECK(same_array(gradient.save_at, wanted.save_at));
        CHECK(report.success());
        CHECK(report.stats(3).accepted == solution.stats(3).accepted);

        std::stop_source stopped;
        stopped.request_stop();
        const auto cancelled = solver(cotangents, lanes.y0, p, stopped.get_token());
        CHECK(cancelled.report.result(8) == eddy::Result::cancelled);
        CHECK(cancelled.gradient.y0(8, 0) == 0);
        CHECK(same_array(solver(cotangents, lanes.y0, p).gradient.y0, wanted.y0));
    };
    const std::vector<Eigen::ArrayXXd> cotangents{Eigen::ArrayXXd::Constant(9, 2, 0.75),
                                                  Eigen::ArrayXXd::Constant(1, 2, -0.5)};
    const Eigen::ArrayXd of_all = lanes.p.row(4);

    check(cotangents, lanes.p);
    check(cotangents, eddy::shared(of_all));
}

TEST_CASE("arrays: a solver takes ensembles of any size, one after another") {
    const auto [y0, p] = nine_lanes();
    auto solver = eddy::ensemble_solver(LotkaVolterra{}, eddy::Bosh3{}, options, one_thread);
    for (const int lanes : {9, 1, 4, 0, 9}) {
        const Eigen::ArrayXXd some_y0 = y0.topRows(lanes), some_p = p.topRows(lanes);
        const auto& solution = solver(some_y0, some_p);
        CHECK(solution.num_lanes() == lanes);
        CHECK(same_solution(solution, solve_lanes(some_y0, some_p)));
    }
}
