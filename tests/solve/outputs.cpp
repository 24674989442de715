// Results that are written straight into the caller's arrays. A program of its own: it counts every
// allocation of the process.

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/counting_new.hpp"
#include "support/message_of.hpp"
#include "support/random.hpp"

namespace {

using eddy::GradientInto;
using eddy::SolutionInto;
using support::allocations_of;
using support::Array;
using support::Forced;
using support::HalfSquares;
using support::message_of;
using support::same_array;
using support::same_bits;
using RowMajor = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::ptrdiff_t lanes = 70;
const eddy::SolveOptions options{.t1 = 3, .rtol = 1e-5, .atol = 1e-8, .save_at = {1, 2, 3}};
const eddy::SolveOptions to_the_end{.t1 = 3, .rtol = 1e-5, .atol = 1e-8};
constexpr eddy::Cpu one_thread{.threads = 1};

template <class Real = double>
eddy::EnsembleArray<Real> some(double offset) {
    eddy::EnsembleArray<Real> array(lanes, 2);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        array(lane, 0) = static_cast<Real>(offset + 0.1 * double(lane % 17));
        array(lane, 1) = static_cast<Real>(1.5 - 0.05 * double(lane % 13));
    }
    return array;
}
const Array starts = some(0.1), p = some(1), y0_tangent = some(-0.3), p_tangent = some(0.2);
const std::vector<Array> data(3, Array(1, 2, 0.25));
const std::vector<double> of_all{1.2, 0.8};

}  // namespace

TEST_CASE("outputs: a solve writes into arrays of any layout what a solution has") {
    auto solver = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, options, one_thread);
    const auto wanted = solver(starts, p);
    Eigen::ArrayXXd column_major(lanes, 2);
    RowMajor row_major(lanes, 2);
    Eigen::ArrayXXd larger = Eigen::ArrayXXd::Constant(2 * lanes, 6, -7);
    const std::vector<eddy::EnsembleView<double>> views{
        {column_major.data(), lanes, 2, 1, lanes},
        {row_major.data(), lanes, 2, 2, 1},
        {larger.data() + 2 * lanes * 4 + 2 * lanes - 2, lanes, 2, -2, -2 * 2 * lanes}};

    const auto& solution = solver(starts, p, SolutionInto<double>{.y = views});

    for (int k = 0; k < 3; ++k) CHECK(same_array(views[static_cast<std::size_t>(k)], wanted.y(k)));
    CHECK(same_array(column_major, wanted.y(0)));
    CHECK(same_array(row_major, wanted.y(1)));
    CHECK(larger(2 * lanes - 2, 4) == wanted.y(2)(0, 0));
    CHECK(larger(2 * lanes - 4, 2) == wanted.y(2)(1, 1));
    CHECK((larger == -7).count() == larger.size() - 2 * lanes);
    CHECK(solution.success());
    CHECK(solution.t(1) == 2);
    CHECK(solution.stats(5).accepted == wanted.stats(5).accepted);
    CHECK(message_of([&] { static_cast<void>(solution.y(1)); }) ==
          "solution: these states are in the arrays that the call was given to write into; read "
          "them there");
    CHECK(same_array(solver(starts, p).y(1), wanted.y(1)));
}

TEST_CASE("outputs: one save point wants one array, an Eigen map, block or reference too") {
    auto solver = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, to_the_end, eddy::Serial{});
    const Array wanted(solver(starts, p).y());
    Eigen::ArrayXXd wide(lanes, 5);
    std::vector<double> plain(2 * lanes);
    Array own(lanes, 2);

    static_cast<void>(solver(starts, p, SolutionInto<double>{.y = wide.middleCols(1, 2)}));
    CHECK(same_array(wide.middleCols(1, 2), wanted));
    static_cast<void>(
        solver(starts, p, SolutionInto<double>{.y = Eigen::Map<RowMajor>(plain.data(), lanes, 2)}));
    CHECK(same_array(Eigen::Map<RowMajor>(plain.data(), lanes, 2), wanted));
    static_cast<void>(solver(starts, p, SolutionInto<double>{.y = own}));
    CHECK(same_array(own, wanted));

    std::array<double, 2> row{};
    const Array one_y0(1, 2, 0.5), one_p(1, 2, 1.5);
    const Array of_one(solver(one_y0, one_p).y());
    static_cast<void>(solver(one_y0, one_p, SolutionInto<double>{.y = std::span(row)}));
    CHECK(same_bits(row[0], of_one(0, 0)));
    CHECK(same_bits(row[1], of_one(0, 1)));
}

TEST_CASE("outputs: tangents, with the states or alone") {
    auto solver = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, options, one_thread);
    const auto wanted = solver(starts, p, y0_tangent, p_tangent);
    std::vector<Array> y(3, Array(lanes, 2)), tangent = y, alone = y;

    static_cast<void>(
        solver(starts, p, y0_tangent, p_tangent, SolutionInto<double>{.y = y, .tangent = tangent}));
    for (std::size_t k = 0; k < 3; ++k) {
        CHECK(same_array(y[k], wanted.y(std::ptrdiff_t(k))));
        CHECK(same_array(tangent[k], wanted.tangent(std::ptrdiff_t(k))));
    }
    const auto& solution =
        solver(starts, p, y0_tangent, p_tangent, SolutionInto<double>{.tangent = alone});
    CHECK(same_array(alone[1], wanted.tangent(1)));
    CHECK(same_array(solution.y(1), wanted.y(1)));
    CHECK_THROWS_AS(solution.tangent(1), eddy::InvalidArgument);
}

TEST_CASE("outputs: what a lane does not reach is NaN, and its gradient zero") {
    auto asked = options;
    asked.max_steps = 12;
    auto solver = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, asked, one_thread);
    auto differentiate =
        eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, asked, one_thread);
    const auto wanted = solver(starts, p);
    const auto of_loss = differentiate(data, starts, p);
    REQUIRE_FALSE(wanted.success());
    std::vector<Array> y(3, Array(lanes, 2, 5.));
    Array gradient(lanes, 2, 5.);
    std::vector<double> loss(lanes, 5.);

    static_cast<void>(solver(starts, p, SolutionInto<double>{.y = y}));
    const auto& result =
        differentiate(data, starts, p, GradientInto<double>{.y0 = gradient, .loss = loss});

    for (std::size_t k = 0; k < 3; ++k) CHECK(same_array(y[k], wanted.y(std::ptrdiff_t(k))));
    CHECK(same_array(gradient, of_loss.gradient.y0));
    CHECK(same_array(result.gradient.p, of_loss.gradient.p));
    CHECK(result.gradient.y0.rows() == 0);
    for (std::size_t lane = 0; lane < lanes; ++lane)
        CHECK(same_bits(loss[lane], of_loss.loss(std::ptrdiff_t(lane))));
}

TEST_CASE("outputs: gradients of all kinds, shared parameters and times included") {
    const auto check = [&](const auto& parameters, std::ptrdiff_t rows) {
        auto differentiate = eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, options,
                                                   one_thread, eddy::differentiate_times);
        auto pull = eddy::pullback_solver(Forced{}, eddy::Bosh3{}, options, one_thread,
                                          eddy::differentiate_times);
        const auto wanted = differentiate(data, starts, parameters);
        const eddy::Gradient<double> pulled = pull(data, starts, parameters).gradient;
        Eigen::ArrayXXd of_y0(lanes, 2), of_p(rows, 2), save_at(lanes, 3), t0_and_t1(lanes, 2);
        const auto into = [&](auto&& loss) {
            return GradientInto<double>{.y0 = of_y0,
                                        .p = of_p,
                                        .loss = loss,
                                        .t0 = t0_and_t1.col(0),
                                        .t1 = t0_and_t1.col(1),
                                        .save_at = save_at};
        };
        const auto agree = [&](const eddy::Gradient<double>& gradient) {
            return same_array(of_y0, gradient.y0) && same_array(of_p, gradient.p) &&
                   same_array(t0_and_t1.col(0), gradient.t0.view()) &&
                   same_array(t0_and_t1.col(1), gradient.t1.view()) &&
                   same_array(save_at, gradient.save_at);
        };
        Eigen::ArrayXd loss(lanes);

        const auto& result = differentiate(data, starts, parameters, into(loss));
        CHECK(result.loss.total == wanted.loss.total);
        CHECK(loss(3) == wanted.loss(3));
        CHECK(agree(wanted.gradient));
        of_y0 = 9, of_p = 9, save_at = 9, t0_and_t1 = 9;
        const auto& [gradient, report] =
            pull(data, starts, parameters, into(eddy::OutputArray<double>()));
        CHECK(agree(pulled));
        CHECK(gradient.t0.rows() == 0);
        CHECK(report.success());
    };
    check(p, lanes);
    check(eddy::shared(of_all), 1);
}

TEST_CASE("outputs: numbers of single precision") {
    const auto single_y0 = some<float>(0.1), single_p = some<float>(1);
    auto solver = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, to_the_end, one_thread);
    const eddy::EnsembleArray<float> wanted(solver(single_y0, single_p).y());
    Eigen::ArrayXXf y(lanes, 2);

    static_cast<void>(solver(single_y0, single_p, SolutionInto<float>{.y = y}));

    CHECK(same_array(y, wanted));
}

TEST_CASE("outputs: the second call allocates nothing") {
    auto solver = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, options, one_thread);
    auto differentiate =
        eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, options, one_thread);
    auto pull = eddy::pullback_solver(Forced{}, eddy::Bosh3{}, options, one_thread);
    std::vector<Array> y(3, Array(lanes, 2)), tangent = y;
    Array of_y0(lanes, 2), of_p(lanes, 2);
    std::vector<double> loss(lanes);
    const GradientInto<double> into{.y0 = of_y0, .p = of_p, .loss = loss};
    const auto check = [](auto call) {
        call();
        CHECK(allocations_of(call) == 0);
    };

    check([&] { static_cast<void>(solver(starts, p, SolutionInto<double>{.y = y})); });
    check([&] {
        static_cast<void>(solver(starts, p, y0_tangent, p_tangent,
                                 SolutionInto<double>{.y = y, .tangent = tangent}));
    });
    check([&] { static_cast<void>(differentiate(data, starts, p, into)); });
    check([&] {
        static_cast<void>(pull(data, starts, p, GradientInto<double>{.y0 = of_y0, .p = of_p}));
    });
}

TEST_CASE("outputs: parameters from a table are copied nowhere, and nor are their gradients") {
    constexpr std::ptrdiff_t many = 5000, conditions = 10;
    constexpr std::int64_t entries = conditions * 2, bytes_of_table = entries * sizeof(double);
    const Array start(many, 2, 0.5);
    Array theta(conditions, 2, 1.), copies(many, 2);
    std::vector<int> rows(many);
    const std::vector<int> index{1, 0};
    for (int lane = 0; lane < many; ++lane) {
        rows[static_cast<std::size_t>(lane)] = lane % conditions;
        theta(lane % conditions, 1) = 0.8 + 0.01 * (lane % conditions);
        for (int j = 0; j < 2; ++j) copies(lane, j) = theta(lane % conditions, 1 - j);
    }
    const auto bytes_of = [](auto action) {
        const std::int64_t before = support::allocated_bytes;
        action();
        return support::allocated_bytes - before;
    };
    const auto solve = [&](const auto& parameters) {
        return bytes_of([&] {
            auto solver = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, to_the_end, one_thread);
            CHECK(solver(start, parameters).success());
        });
    };
    const auto differentiate = [&](const auto& parameters) {
        return bytes_of([&] {
            auto solver = eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, to_the_end,
                                                one_thread);
            CHECK(solver(data.front(), start, parameters).report.success());
        });
    };

    // Whoever copies holds `copies` beside what the call needs; a gradient tells which entries were read, by a flag for each.
    CHECK(solve(eddy::selected(theta, rows, index)) <= solve(copies));
    CHECK(differentiate(eddy::selected(theta, rows, index)) <=
          differentiate(copies) + bytes_of_table + entries);
}

TEST_CASE("outputs: wrong shapes and numbers of arrays are refused, and nothing is written") {
    auto solver = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, options, one_thread);
    auto differentiate =
        eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, options, one_thread);
    auto pull = eddy::pullback_solver(Forced{}, eddy::Bosh3{}, options, one_thread);
    std::vector<Array> y(3, Array(lanes, 2, 7.)), few(2, Array(lanes, 2));
    std::vector<double> loss(lanes - 1);
    Array narrow(lanes, 1), of_y0(lanes, 2, 7.);
    const auto refused = [&](const auto& into) {
        return message_of([&] { static_cast<void>(solver(starts, p, into)); });
    };
    const auto gradient_refused = [&](const GradientInto<double>& into) {
        return message_of([&] { static_cast<void>(differentiate(data, starts, p, into)); });
    };

    CHECK(refused(SolutionInto<double>{.y = few}) ==
          "solve: 2 arrays to write y into, but there are 3 save points; give a list with one for "
          "each");
    y[1] = narrow;
    CHECK(refused(SolutionInto<double>{.y = y}) ==
          "solve: y is 70 x 1 (trajectory, component); give 70 x 2");
    CHECK(y[0](3, 1) == 7);
    y[1] = of_y0;
    CHECK(refused(SolutionInto<double>{.tangent = y}) ==
          "solve: there is an array for tangents, but a solve has none; leave it out, or give "
          "tangents of y0 and p");
    CHECK(gradient_refused({.y0 = narrow}) ==
          "value_and_gradient: gradient.y0 is 70 x 1 (trajectory, component); give 70 x 2");
    CHECK(gradient_refused({.y0 = of_y0, .loss = loss}) ==
          "value_and_gradient: loss is 69 x 1 (trajectory, component); give 70 x 1");
    CHECK(of_y0(3, 1) == 7);
    CHECK(gradient_refused({.t0 = narrow}) ==
          "value_and_gradient: there is an array for derivatives with respect to times, but they "
          "are not computed; leave it out, or add eddy::differentiate_times");
    CHECK(message_of([&] {
              static_cast<void>(pull(data, starts, p, GradientInto<double>{.loss = narrow}));
          }) == "pullback: there is an array for the loss, but there is no loss; leave it out");
}

TEST_CASE("outputs: an array that overlaps an input, another or itself is refused") {
    auto solver = eddy::ensemble_solver(Forced{}, eddy::Bosh3{}, options, one_thread);
    auto differentiate =
        eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, options, one_thread);
    Array start = starts;
    std::vector<Array> y(3, Array(lanes, 2, 7.)), states(3, Array(lanes, 2, 0.5));
    Array other(lanes, 2), third(lanes, 2);
    const auto refused = [&](const std::vector<eddy::EnsembleView<double>>& views) {
        return message_of(
            [&] { static_cast<void>(solver(start, p, SolutionInto<double>{.y = views})); });
    };

    CHECK(refused({other.view(), start.view(), third.view()}) ==
          "solve: y[1] and y0 share memory; give arrays to write into that overlap no other");
    CHECK(support::mentions(refused({other.view(), third.view(), other.view()}),
                            " share memory; give arrays to write into that overlap no other"));
    CHECK(refused({other.view(), {third.data(), lanes, 2, 1, lanes - 1}, y[0].view()}) ==
          "solve: two elements of y[1] are one in memory; give an array to write into whose "
          "elements all differ");
    CHECK(message_of([&] {
              static_cast<void>(
                  differentiate(states, starts, p, GradientInto<double>{.p = states[2]}));
          }) ==
          "value_and_gradient: gradient.p and data[2] share memory; give arrays to write into "
          "that overlap no other");
    CHECK(start(3, 0) == starts(3, 0));

    // Side by side in one matrix, rows or columns, is no overlap.
    RowMajor table(lanes, 8);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        for (int i = 0; i < 2; ++i) table(lane, 3 * i) = starts(lane, i);
    }
    const eddy::EnsembleView<double> of_start{table.data(), lanes, 2, 8, 3};
    const std::vector<eddy::EnsembleView<double>> columns{{table.data() + 1, lanes, 2, 8, 1},
                                                          {table.data() + 4, lanes, 2, 8, 1},
                                                          {table.data() + 6, lanes, 2, 8, 1}};
    const Array wanted(solver(starts, p).y(2));
    static_cast<void>(solver(of_start, p, SolutionInto<double>{.y = columns}));
    CHECK(same_array(table.rightCols(2), wanted));
}

TEST_CASE("outputs: two grids share memory where they have an element in common") {
    support::Random random(20);
    std::vector<double> memory(400);
    const auto any_view = [&] {
        const auto pick = [&](int low, int high) {
            return static_cast<std::ptrdiff_t>(random.uniform(low, high));
        };
        return eddy::EnsembleView<double>{memory.data() + pick(150, 250), pick(1, 6), pick(1, 5),
                                          pick(-12, 13), pick(-12, 13)};
    };
    const auto elements = [](const eddy::EnsembleView<double>& view) {
        std::multiset<const double*> all;
        for (std::ptrdiff_t lane = 0; lane < view.rows(); ++lane) {
            for (std::ptrdiff_t i = 0; i < view.cols(); ++i) all.insert(&view(lane, i));
        }
        return all;
    };
    int shared = 0, repeated = 0;
    for (int trial = 0; trial < 5000; ++trial) {
        const auto a = any_view(), b = any_view();
        const auto of_a = elements(a), of_b = elements(b);
        bool wanted = false, repeats = false;
        for (const double* element : of_a) {
            wanted = wanted || of_b.count(element) > 0;
            repeats = repeats || of_a.count(element) > 1;
        }
        const auto grid_a = eddy::detail::MemoryGrid::of(a),
                   grid_b = eddy::detail::MemoryGrid::of(b);
        REQUIRE(share_memory(grid_a, grid_b) == wanted);
        REQUIRE(repeats_itself(grid_a) == repeats);
        shared += wanted, repeated += repeats;
    }
    CHECK(shared > 500);
    CHECK(shared < 4500);
    CHECK(repeated > 500);
    CHECK(repeated < 4500);
}
