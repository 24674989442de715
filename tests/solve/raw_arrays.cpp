// Arrays that are nothing but numbers in memory: what programs in C, Fortran and plain C++ have.

#include <algorithm>
#include <eddy/backends/cpu.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/bosh3.hpp>
#include <vector>

#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using support::Array;
using support::Forced;
using support::HalfSquares;
using support::same_array;

constexpr std::ptrdiff_t lanes = 7;
const eddy::SolveOptions options{.t1 = 1, .rtol = 1e-4};
const std::vector<double> theta{1.1, 0.7};

Array starts() {
    Array y0(lanes, 2);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        y0(lane, 0) = 0.1 * static_cast<double>(lane);
        y0(lane, 1) = 1 - 0.05 * static_cast<double>(lane);
    }
    return y0;
}
/// The numbers of an array in rows that are so far apart.
std::vector<double> in_rows(const Array& array, std::ptrdiff_t row_stride) {
    std::vector<double> numbers(static_cast<std::size_t>(array.rows() * row_stride), -1e300);
    for (std::ptrdiff_t lane = 0; lane < array.rows(); ++lane) {
        for (std::ptrdiff_t i = 0; i < array.cols(); ++i)
            numbers[static_cast<std::size_t>(lane * row_stride + i)] = array(lane, i);
    }
    return numbers;
}
template <class Y0>
auto solve(const Y0& y0) {
    return eddy::solve(Forced{}, eddy::Bosh3{}, y0, eddy::shared(theta), options);
}

}  // namespace

TEST_CASE("raw arrays: columns, rows, blocks of rows and vectors are taken where they lie") {
    const Array y0 = starts();
    const auto wanted = solve(y0).y();

    const double* const columns = y0.data();
    CHECK(same_array(solve(eddy::column_major(columns, lanes, 2)).y(), wanted));

    std::vector<double> rows = in_rows(y0, 2);
    CHECK(same_array(solve(eddy::row_major(rows.data(), lanes, 2)).y(), wanted));
    CHECK(same_array(solve(eddy::row_major(rows, lanes, 2)).y(), wanted));

    // Two columns of a C array of five.
    const std::vector<double> wide = in_rows(y0, 5);
    CHECK(same_array(solve(eddy::row_major(wide.data(), lanes, 2, 5)).y(), wanted));

    const std::vector<double> all(y0.begin(), y0.end());
    CHECK(same_array(solve(eddy::column_major(all, lanes, 2)).y(), wanted));
}

TEST_CASE("raw arrays: data, and gradients that are written into rows of the caller") {
    const Array y0 = starts(), data(lanes, 2, 0.25);
    const std::vector<double> rows = in_rows(data, 2);
    const auto wanted = eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, HalfSquares{}, data, y0,
                                                 eddy::shared(theta), options);
    auto solver = eddy::gradient_solver(Forced{}, eddy::Bosh3{}, HalfSquares{}, options);
    std::vector<double> of_y0(lanes * 2);

    const auto& result = solver(eddy::row_major(rows, lanes, 2), y0, eddy::shared(theta),
                                eddy::GradientInto<double>{.y0 = eddy::row_major(of_y0, lanes, 2)});

    CHECK(result.loss.total == wanted.loss.total);
    CHECK(of_y0 == in_rows(wanted.gradient.y0, 2));
}

TEST_CASE("raw arrays: a vector of another size is refused") {
    std::vector<double> numbers(13);

    CHECK(support::message_of([&] { static_cast<void>(eddy::row_major(numbers, 7, 2)); }) ==
          "row_major: 13 numbers for 7 x 2 (trajectory, component); give as many as that has");
    CHECK(support::message_of([&] { static_cast<void>(eddy::column_major(numbers, 7, -2)); }) ==
          "column_major: 13 numbers for 7 x -2 (trajectory, component); give as many as that has");
}

TEST_CASE("gradients: gradient.p is its name after every call, and a vector takes it") {
    const Array y0 = starts(), data(lanes, 2, 0.);
    const auto solution = solve(y0);
    const Array end(solution.y());  // the derivative of half its squares

    const auto by_loss = eddy::value_and_gradient(Forced{}, eddy::Bosh3{}, HalfSquares{}, data, y0,
                                                  eddy::shared(theta), options);
    const auto pulled = eddy::pullback(solution, end);
    auto solver = eddy::pullback_solver(Forced{}, eddy::Bosh3{}, options);
    const auto by_solver = solver(end, y0, eddy::shared(theta));
    const std::vector<double> p = by_loss.gradient.p, pulled_p = pulled.gradient.p,
                              solver_p = by_solver.gradient.p;

    CHECK(p.size() == 2);
    CHECK(pulled_p == p);
    CHECK(solver_p == p);
    CHECK(same_array(pulled.gradient.y0, by_loss.gradient.y0));
    CHECK(same_array(by_solver.gradient.y0, by_loss.gradient.y0));

    // The short names are those of the same arrays, of a copy as well, and after an assignment.
    auto copy = pulled;
    CHECK(&pulled.p == &pulled.gradient.p);
    CHECK(&copy.y0 == &copy.gradient.y0);
    copy.y0(0, 0) = 17;
    CHECK(pulled.y0(0, 0) != 17);
    auto moved = std::move(copy);
    CHECK(moved.gradient.y0(0, 0) == 17);
    CHECK(&moved.y0 == &moved.gradient.y0);
    moved = pulled;
    CHECK(same_array(moved.y0, pulled.y0));
    const eddy::Gradient<double> alone = pulled;
    CHECK(same_array(alone.p, pulled.p));
}
