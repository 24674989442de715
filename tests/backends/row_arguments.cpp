// Over rows, parameters in tables are those of copies, bit for bit, and a start that is a function of parameters is that of
// an array, with derivatives by the chain rule.

#include <cmath>
#include <eddy/runtime.hpp>
#include <vector>
#include "support/catch.hpp"
#include "support/message_of.hpp"
#include "support/same_bits.hpp"

namespace {

using Array = eddy::EnsembleArray<double>;

constexpr std::ptrdiff_t lanes = 70;
const eddy::SolveOptions options{
    .t0 = 0.25, .t1 = 2, .rtol = 1e-9, .atol = 1e-10, .save_at = {0.25, 2}};

/// y₀′ = −p₀ y₀, y₁′ = p₀ y₀ − p₁ y₁.
eddy::RuntimeField chain() {
    return eddy::trace_field(2, 2, [](auto, const auto& y, const auto& p) {
        return eddy::vec(-(p[0] * y[0]), p[0] * y[0] - p[1] * y[1]);
    });
}
struct Start {
    auto operator()(const auto& t0, const auto& p) const {
        return eddy::vec(p[0] * p[1] + t0, eddy::exp(-p[0]));
    }
};
struct SquaredError {
    auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r);
    }
};
const std::vector<Array> data(2, Array(1, 2, 0.4));

Array rates() {
    Array p(lanes, 2);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        p(lane, 0) = 0.8 + 0.02 * static_cast<double>(lane % 9);
        p(lane, 1) = 1.3 - 0.01 * static_cast<double>(lane % 11);
    }
    return p;
}
Array started(const Array& p) {
    Array y0(p.rows(), 2);
    for (std::ptrdiff_t lane = 0; lane < p.rows(); ++lane) {
        y0(lane, 0) = p(lane, 0) * p(lane, 1) + 0.25;
        y0(lane, 1) = std::exp(-p(lane, 0));
    }
    return y0;
}
auto solver(const eddy::SolveOptions& with = options) {
    return eddy::gradient_solver(chain(), eddy::Tsit5{}, SquaredError{}, with);
}
bool same(const auto& a, const auto& b) {
    bool is_same = a.rows() == b.rows() && a.cols() == b.cols();
    for (std::ptrdiff_t row = 0; is_same && row < a.rows(); ++row) {
        for (std::ptrdiff_t i = 0; i < a.cols(); ++i)
            is_same = is_same && support::same_bits(a(row, i), b(row, i));
    }
    return is_same;
}

}  // namespace

TEST_CASE("rows: parameters in tables are those of copies") {
    const Array y0 = started(rates()), theta(Array(3, 4, 0.7));
    Array table = theta, copies(lanes, 2), own(lanes, 1), partly(lanes, 2);
    for (std::ptrdiff_t row = 0; row < 3; ++row)
        for (int i = 0; i < 4; ++i) table(row, i) += 0.1 * static_cast<double>(row + i);
    const std::vector<double> common{1.1};
    std::vector<int> rows, index;
    for (int lane = 0; lane < lanes; ++lane) {
        rows.push_back(lane % 3);
        index.insert(index.end(), {lane % 4, 2});
        copies(lane, 0) = table(lane % 3, lane % 4);
        copies(lane, 1) = table(lane % 3, 2);
        own(lane, 0) = partly(lane, 0) = 0.5 + 0.01 * lane;
        partly(lane, 1) = common[0];
    }
    const auto places = eddy::row_major(index.data(), lanes, 2);
    auto differentiate = solver();

    const Array of_copies = differentiate(data, y0, copies).gradient.p;
    const auto& of_table = differentiate(data, y0, eddy::selected(table, rows, places)).gradient;
    Array sums(3, 4);
    for (int lane = 0; lane < lanes; ++lane)
        for (int j = 0; j < 2; ++j) sums(lane % 3, j == 0 ? lane % 4 : 2) += of_copies(lane, j);
    CHECK(same(of_table.p, sums));
    const Array of_partly = differentiate(data, y0, partly).gradient.p;
    const auto& of_both = differentiate(data, y0, eddy::parameters(own, common)).gradient;
    CHECK(of_both.p(7, 0) == of_partly(7, 0));
    double first = 0, rest = 0;  // in blocks of 64
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane)
        (lane < 64 ? first : rest) += of_partly(lane, 1);
    CHECK(of_both.shared(0, 0) == first + rest);
    CHECK(differentiate(data, y0, partly).gradient.shared.rows() == 0);

    const auto solution =
        eddy::solve(chain(), eddy::Tsit5{}, y0, eddy::selected(table, rows, places), options);
    CHECK(same(solution.y(1), eddy::solve(chain(), eddy::Tsit5{}, y0, copies, options).y(1)));
    CHECK(eddy::pullback(solution, data).p.rows() == lanes);
}

TEST_CASE("rows: a start from parameters, and gradients through it") {
    const Array p = rates();
    const auto start = eddy::start_from(Start{});
    const auto from_start = eddy::solve(chain(), eddy::Tsit5{}, start, p, options);
    const Array y0(from_start.y(0));
    auto differentiate = solver();
    const eddy::Gradient<double> given = differentiate(data, y0, p).gradient;
    const eddy::Gradient<double> found = differentiate(data, start, p).gradient;

    CHECK(y0(69, 0) == started(p)(69, 0));
    CHECK(y0(69, 1) == Approx(started(p)(69, 1)).epsilon(1e-15));  // packs have an exp of their own
    CHECK(same(from_start.y(1), eddy::solve(chain(), eddy::Tsit5{}, y0, p, options).y(1)));
    CHECK(same(found.y0, given.y0));
    for (const std::ptrdiff_t lane : {0, 69}) {
        const double a = given.y0(lane, 0), b = given.y0(lane, 1);
        CHECK(found.p(lane, 0) == Approx(given.p(lane, 0) + a * p(lane, 1) - b * y0(lane, 1)));
        CHECK(found.p(lane, 1) == Approx(given.p(lane, 1) + a * p(lane, 0)));
    }
    CHECK(same(differentiate(data, start, p).gradient.p, found.p));

    // Of all trajectories, of a table, and at times of their own.
    const std::vector<double> row{0.9, 1.1}, last{1.1};
    Array of_all(lanes, 2, 0.9), own(lanes, 1, 0.9);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) of_all(lane, 1) = 1.1;
    const double each = differentiate(data, start, of_all).gradient.p(3, 1);
    CHECK(
        differentiate(data, eddy::start_from(Start{}, lanes), eddy::shared(row)).gradient.p(0, 1) ==
        Approx(lanes * each));
    CHECK(differentiate(data, start, eddy::parameters(own, last)).gradient.shared(0, 0) ==
          Approx(lanes * each));
    std::vector<double> begin(lanes, 0.25);
    begin[5] = 0.5;
    const auto solution = eddy::solve(
        chain(), eddy::Tsit5{},
        eddy::start_from([](const auto& t0, const auto& rate) { return eddy::vec(t0, rate[1]); }),
        p, {.t0 = eddy::each(begin), .t1 = 2, .save_at = {0.5, 2}});
    CHECK(solution.y(0)(5, 0) == 0.5);
}

TEST_CASE("rows: so they are in single precision") {
    using Singles = eddy::EnsembleArray<float>;
    const auto start = eddy::start_from(Start{});
    const std::vector<float> last{1.1f};
    const std::vector<Singles> seen(2, Singles(1, 2, 0.4f));
    const Singles own(lanes, 1, 0.9f);
    Singles copies(lanes, 2, 0.9f);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) copies(lane, 1) = last[0];
    auto differentiate = solver({.t0 = 0.25, .t1 = 2, .rtol = 1e-5, .save_at = {0.25, 2}});

    const eddy::Gradient<float> given = differentiate(seen, start, copies).gradient;
    const auto& found = differentiate(seen, start, eddy::parameters(own, last)).gradient;

    CHECK(same(found.y0, given.y0));
    CHECK(found.p(7, 0) == given.p(7, 0));
    CHECK(found.shared(0, 0) == Approx(lanes * given.p(7, 1)).epsilon(1e-5));
    Array in_double(lanes, 2, 0.9);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) in_double(lane, 1) = 1.1;
    const double expected = differentiate(data, start, in_double).gradient.p(7, 0);
    CHECK(given.p(7, 0) == Approx(expected).epsilon(1e-4));  // by rtol, and rounding
}

TEST_CASE("rows: what tables and starts do not go with is told before any work") {
    const Array p = rates(), y0 = started(p);
    const std::vector<int> index{0, 2};
    const auto start = eddy::start_from(Start{});
    auto differentiate = solver();
    Array room(lanes, 2);
    CHECK(support::message_of([&] {
              static_cast<void>(
                  differentiate(data, start, p, eddy::GradientInto<double>{.y0 = room}));
          }) ==
          "value_and_gradient: start_from(function), parameters(own, shared) and selected(theta, "
          "index) over rows go with no arrays to write a gradient into, and without gather_sums; "
          "leave these out, or give arrays of y0 and p");
    CHECK(support::message_of(
              [&] { static_cast<void>(differentiate(data, y0, eddy::selected(p, index))); }) ==
          "value_and_gradient: index(0, 1) = 2, of parameter 1 of trajectory 0, but the table has "
          "2 columns; count from 0");
    CHECK(support::message_of(
              [&] { static_cast<void>(differentiate(data, eddy::start_from(Start{}, 4), p)); }) ==
          "value_and_gradient: start_from for 4 trajectories, but the parameters are of 70; leave "
          "the number out");
    const auto one = eddy::start_from([](const auto& rate) { return eddy::vec(rate[0]); });
    CHECK(support::message_of([&] { static_cast<void>(differentiate(data, one, p)); }) ==
          "start_from: the function returns 1 numbers for 2 states; return one for each");
    const auto solution = eddy::solve(chain(), eddy::Tsit5{}, start, p, options);
    CHECK(support::message_of([&] { static_cast<void>(eddy::pullback(solution, data)); }) ==
          "pullback: the solution began by start_from(function), and goes back to no parameters "
          "through it; solve from an array of initial values, or give value_and_gradient a loss");
}
