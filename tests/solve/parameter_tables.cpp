// Parameters in tables are those of copies, bit for bit, and so are gradients, added up.

#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/backends/tiles.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solve/call/pullback.hpp>
#include <eddy/solvers/tsit5.hpp>
#include <limits>
#include <vector>

#include "solve/emulated_device.hpp"
#include "solve/problems.hpp"
#include "support/catch.hpp"
#include "support/message_of.hpp"

namespace {

using support::Array, support::HalfSquares, support::LotkaVolterra, support::same_array;

constexpr std::ptrdiff_t num_lanes = 70;  // more than a block of sums
const eddy::SolveOptions options{.t1 = 2, .rtol = 1e-5, .save_at = {0.5, 2}};

Array varied(std::ptrdiff_t rows, std::ptrdiff_t columns, double first) {
    Array array(rows, columns);
    for (std::ptrdiff_t i = 0; i < columns; ++i) {
        for (std::ptrdiff_t row = 0; row < rows; ++row)
            array(row, i) = first + 0.1 * static_cast<double>((5 * row + 3 * i) % 7);
    }
    return array;
}
const Array start = varied(num_lanes, 2, 0.8), own = varied(num_lanes, 2, 0.7);
const std::vector<double> common{1.1, 0.9};
const std::vector<Array> data(2, Array(1, 2, 0.9));

/// Five conditions of six numbers, of which each lane has one and picks four; two lanes in three share a pick.
const Array theta = varied(5, 6, 0.6);
struct Places {
    std::vector<int> rows, index = std::vector<int>(4 * num_lanes);
    Places() {
        for (int lane = 0; lane < num_lanes; ++lane) {
            rows.push_back(lane * lane % 5);
            for (int j = 0; j < 4; ++j)
                index[static_cast<std::size_t>(4 * lane + j)] = (j + (lane % 3 == 0 ? 2 : 0)) % 6;
        }
    }
    [[nodiscard]] auto view() const { return eddy::row_major(index.data(), num_lanes, 4); }
};
const Places places;

Array copies_of_shared() {
    Array p(num_lanes, 4);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        for (int j = 0; j < 2; ++j) {
            p(lane, j) = own(lane, j);
            p(lane, j + 2) = common[static_cast<std::size_t>(j)];
        }
    }
    return p;
}
std::ptrdiff_t column(std::ptrdiff_t lane, int j) { return places.view()(lane, j); }
std::ptrdiff_t row(std::ptrdiff_t lane) { return places.rows[static_cast<std::size_t>(lane)]; }
Array copies_of_theta() {
    Array p(num_lanes, 4);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        for (int j = 0; j < 4; ++j) p(lane, j) = theta(row(lane), column(lane, j));
    }
    return p;
}
Array added_up(const Array& of_lanes) {
    Array sums(5, 6);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        for (int j = 0; j < 4; ++j) sums(row(lane), column(lane, j)) += of_lanes(lane, j);
    }
    return sums;
}
/// Lanes 0 to 63, and then the rest.
double added_up(const Array& of_lanes, int j) {
    double first = 0, rest = 0;
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane)
        (lane < 64 ? first : rest) += of_lanes(lane, j);
    return first + rest;
}

template <class Parameters, class Backend>
auto differentiate(const Parameters& p, const Backend& backend) {
    return eddy::value_and_gradient(LotkaVolterra{}, eddy::Tsit5{}, HalfSquares{}, data, start, p,
                                    options, backend);
}
template <class Backend>
void check(const Backend& backend) {
    const auto of_copies = differentiate(copies_of_shared(), backend);
    const auto partly = differentiate(eddy::parameters(own, common), backend);
    REQUIRE(partly.report.success());
    CHECK(partly.loss.total == of_copies.loss.total);
    CHECK(same_array(partly.gradient.y0, of_copies.gradient.y0));
    REQUIRE(partly.gradient.shared.rows() == 1);
    for (int j = 0; j < 2; ++j) {
        CHECK(partly.gradient.p(9, j) == of_copies.gradient.p(9, j));
        CHECK(partly.gradient.shared(0, j) == added_up(of_copies.gradient.p, j + 2));
    }
    CHECK(partly.gradient.p.cols() == 2);

    const auto of_rows = differentiate(copies_of_theta(), backend);
    const auto picked = differentiate(eddy::selected(theta, places.rows, places.view()), backend);
    CHECK(picked.loss.total == of_rows.loss.total);
    CHECK(same_array(picked.gradient.p, added_up(of_rows.gradient.p)));
}
template <class Parameters>
std::string said_of(const Parameters& p) {
    return support::message_of([&] { (void)differentiate(p, eddy::Serial{}); });
}

}  // namespace

TEST_CASE("parameter tables: values and gradients of copies, on every machine") {
    check(eddy::Serial{});
    check(eddy::Cpu{.threads = 2});
    check(eddy::Tiles{});
    check(support::EmulatedDevice{});
}

TEST_CASE("parameter tables: a solve, its pullback, and second derivatives") {
    const auto table = eddy::parameters(own, common);
    const auto solution =
        eddy::solve(LotkaVolterra{}, eddy::Tsit5{}, start, table, options, eddy::Serial{});
    const auto of_copies = eddy::solve(LotkaVolterra{}, eddy::Tsit5{}, start, copies_of_shared(),
                                       options, eddy::Serial{});
    CHECK(same_array(solution.y(1), of_copies.y(1)));
    auto pull = eddy::pullback_solver(LotkaVolterra{}, eddy::Tsit5{}, options, eddy::Serial{});
    const std::vector<Array> ones(2, Array(1, 2, 1.));
    const auto from_table = pull(ones, start, table).gradient;
    const auto from_copies = eddy::pullback(of_copies, ones);
    CHECK(from_table.shared(0, 1) == added_up(from_copies.p, 3));

    auto solver = eddy::gradient_solver(LotkaVolterra{}, eddy::Tsit5{}, HalfSquares{}, options,
                                        eddy::Serial{});
    const Array y_along(num_lanes, 2, 0.5), own_along(num_lanes, 2, 0.25),
        all_along(num_lanes, 4, 0.25);
    const std::vector<double> common_along{0.25, 0.25};
    const auto product = solver.hessian_vector_product(data, start, table, y_along,
                                                       eddy::parameters(own_along, common_along));
    const auto expected =
        solver.hessian_vector_product(data, start, copies_of_shared(), y_along, all_along);
    const auto by_rows = solver.hessian_vector_product(data, start, table, y_along, all_along);
    CHECK(by_rows.product.p(3, 1) == expected.product.p(3, 1));
    const auto of_rows = solver.hessian_vector_product(data, start, copies_of_shared(), y_along,
                                                       eddy::parameters(own_along, common_along));
    CHECK(of_rows.product.p(3, 1) == expected.product.p(3, 1));
    CHECK(product.product.p(3, 1) == expected.product.p(3, 1));
    CHECK(product.product.shared(0, 0) == added_up(expected.product.p, 2));
}

TEST_CASE("parameter tables: a table of one row, and an index of one row") {
    const std::vector<double> four{0.7, 1.1, 0.9, 1.2};
    const std::vector<int> turned{3, 2, 1, 0}, straight{0, 1, 2, 3};
    Array p(num_lanes, 4), all(num_lanes, 4);
    for (std::ptrdiff_t lane = 0; lane < num_lanes; ++lane) {
        for (int j = 0; j < 4; ++j) {
            p(lane, j) = four[static_cast<std::size_t>(3 - j)];
            all(lane, j) = theta(row(lane), j);
        }
    }

    const auto of_one = differentiate(eddy::selected(four, turned), eddy::Serial{});
    const auto by_rows = differentiate(eddy::selected(all, straight), eddy::Serial{});

    CHECK(of_one.loss.total == differentiate(p, eddy::Serial{}).loss.total);
    CHECK(of_one.gradient.p.rows() == 1);
    CHECK(same_array(by_rows.gradient.p, differentiate(all, eddy::Serial{}).gradient.p));
}

TEST_CASE("parameter tables: what does not fit is told before any work") {
    const std::vector<int> few{0, 1, 2}, beyond{0, 1, 6, 2}, rows(7, 0);
    const std::vector<double> three(3, 1.);
    std::vector<int> bad_rows = places.rows;
    bad_rows[4] = 5;
    CHECK(said_of(eddy::selected(theta, places.rows, few)) ==
          "value_and_gradient: the index of selected is 1 x 3 (trajectory, component); give 1 x 4");
    CHECK(
        said_of(eddy::selected(theta, places.rows, beyond)) ==
        "value_and_gradient: index(0, 2) = 6, of parameter 2 of trajectory 0, but the table has 6 "
        "columns; count from 0");
    CHECK(
        said_of(eddy::selected(theta, bad_rows, places.view())) ==
        "value_and_gradient: row 5 of the table, for trajectory 4, which has 5 rows; count from 0");
    CHECK(
        said_of(eddy::selected(theta, rows, places.view())) ==
        "value_and_gradient: the rows of selected are 1 x 7; give one for each of 70 trajectories");
    CHECK(
        said_of(eddy::selected(theta, places.view())) ==
        "value_and_gradient: the table of selected has 5 rows for 70 trajectories; give 1, or 70, "
        "or say by selected(theta, rows, index) which row each has");
    CHECK(said_of(eddy::parameters(own, three)) ==
          "value_and_gradient: 2 parameters of each trajectory and 3 shared ones are 5, but the "
          "equation has 4; give as many");
    CHECK(said_of(eddy::parameters(varied(3, 2, 1), common)) ==
          "value_and_gradient: p is 3 x 2 (trajectory, component); give 70 x 2");
    CHECK(
        said_of(eddy::parameters(own, theta)) ==
        "value_and_gradient: shared parameters are 5 x 6; give one row that all trajectories use");
    const std::vector<double> broken{1, std::numeric_limits<double>::infinity()};
    CHECK(said_of(eddy::parameters(own, broken)) ==
          "value_and_gradient: the shared p(0, 1) = inf; give finite numbers");
    auto solver = eddy::gradient_solver(LotkaVolterra{}, eddy::Tsit5{}, HalfSquares{}, options,
                                        eddy::Serial{});
    const support::DeviceArray<double> there{start};
    CHECK(
        support::message_of([&] {
            (void)eddy::value_and_gradient(LotkaVolterra{}, eddy::Tsit5{}, HalfSquares{}, data,
                                           there, eddy::parameters(own, common), options,
                                           support::EmulatedDevice{.asynchronous = true});
        }) ==
        "value_and_gradient: parameters(own, shared) or selected(theta, index) in an asynchronous "
        "call, which would wait for copies; leave one of them out, or give an array of parameters "
        "on the device");
    Array room(num_lanes, 4);
    CHECK(support::message_of([&] {
              (void)solver(data, start, eddy::parameters(own, common),
                           eddy::GradientInto<double>{.p = room});
          }) ==
          "value_and_gradient: an array for the gradient with respect to p, which lies in a table; "
          "leave it out, and read gradient.p of the result");
}
