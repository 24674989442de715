#include <Eigen/Dense>
#include <cmath>
#include <eddy/ad/dual.hpp>
#include <eddy/linalg/dense_lu.hpp>
#include <eddy/linalg/place_lu.hpp>
#include <eddy/linalg/transversal.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

constexpr int size = 6;
using Vector = eddy::Vec<double, size>;
using Lu = eddy::DenseLu<double, size>;

Eigen::MatrixXd as_eigen(const Lu::Matrix& matrix) {
    Eigen::MatrixXd copy(size, size);
    for (int i = 0; i < size; ++i) {
        for (int j = 0; j < size; ++j) copy(i, j) = matrix[i][j];
    }
    return copy;
}

}  // namespace

TEST_CASE("dense_lu: solves with random matrices of any units, and with their transposes") {
    support::Random random(7);
    for (int trial = 0; trial < 200; ++trial) {
        Lu::Matrix matrix{};
        Vector b{};
        for (int i = 0; i < size; ++i) {
            const double unit = std::pow(10., random.uniform(-8, 8));
            for (int j = 0; j < size; ++j) matrix[i][j] = unit * random.uniform(-1, 1);
            b[i] = unit * random.uniform(-1, 1);
        }
        Lu lu;
        REQUIRE(lu.factor(matrix) == -1);

        const Vector x = lu.solve(b), transposed = lu.solve_transposed(b);

        for (int i = 0; i < size; ++i) {
            double row = -b[i], column = -b[i], row_size = 0, column_size = 0;
            for (int j = 0; j < size; ++j) {
                row += matrix[i][j] * x[j];
                row_size += std::abs(matrix[i][j] * x[j]);
                column += matrix[j][i] * transposed[j];
                column_size += std::abs(matrix[j][i] * transposed[j]);
            }
            CHECK(std::abs(row) <= 1e-13 * row_size);
            CHECK(std::abs(column) <= 1e-12 * (column_size + std::abs(b[i])));
        }
    }
}

TEST_CASE("dense_lu: tells the first column that depends on those before it, or is no number") {
    support::Random random(3);
    Lu::Matrix matrix{};
    for (int i = 0; i < size; ++i) {
        for (int j = 0; j < size; ++j) matrix[i][j] = random.uniform(-1, 1);
        matrix[i][4] = matrix[i][1] - 0.3 * matrix[i][2];
    }
    Lu lu;
    CHECK(lu.factor(matrix) == 4);
    CHECK(as_eigen(matrix).fullPivLu().rank() == size - 1);

    matrix[2][3] = std::nan("");
    CHECK(lu.factor(matrix) >= 0);
    CHECK(lu.factor({}) == 0);
}

TEST_CASE("dense_lu: dual numbers have the values of plain ones, and their derivatives") {
    using Number = eddy::Dual<double>;
    support::Random random(5);
    eddy::DenseLu<Number, size>::Matrix dual{};
    Lu::Matrix plain{}, moved{};
    eddy::Vec<Number, size> b{};
    Vector values{};
    const double h = 1e-6;
    for (int i = 0; i < size; ++i) {
        for (int j = 0; j < size; ++j) {
            dual[i][j] = {random.uniform(-1, 1), random.uniform(-1, 1)};
            plain[i][j] = dual[i][j].value;
            moved[i][j] = dual[i][j].value + h * dual[i][j].tangent;
        }
        b[i] = values[i] = random.uniform(-1, 1);
    }
    eddy::DenseLu<Number, size> of_dual;
    Lu of_plain, of_moved;
    REQUIRE(of_dual.factor(dual) == -1);
    REQUIRE(of_plain.factor(plain) == -1);
    REQUIRE(of_moved.factor(moved) == -1);

    const auto x = of_dual.solve(b);
    const Vector at = of_plain.solve(values), next = of_moved.solve(values);

    for (int i = 0; i < size; ++i) {
        CHECK(x[i].value == at[i]);
        CHECK(x[i].tangent == Approx((next[i] - at[i]) / h).epsilon(1e-3).margin(1e-3));
    }
}

TEST_CASE(
    "transversal: rows stay where they are, move where they must, and are missed if none fits") {
    const auto pattern = [](std::initializer_list<eddy::MatrixEntry> entries) {
        eddy::SquarePattern made(3);
        for (const auto& entry : entries) made.insert(entry.row, entry.column);
        return made;
    };
    const auto none = pattern({});
    CHECK(eddy::transversal(none, pattern({{0, 0}, {1, 1}, {2, 2}, {0, 2}})) ==
          std::vector{0, 1, 2});
    CHECK(eddy::transversal(none, pattern({{0, 0}, {0, 1}, {1, 0}, {2, 2}, {2, 1}})) ==
          std::vector{1, 0, 2});
    // What is preferred weighs more than the diagonal.
    CHECK(eddy::transversal(pattern({{0, 1}, {1, 0}}),
                            pattern({{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 0}})) ==
          std::vector{1, 0, 2});
    const auto missed = eddy::transversal(none, pattern({{0, 0}, {1, 0}, {2, 2}}));
    CHECK(std::count(missed.begin(), missed.end(), -1) == 1);
}

TEST_CASE("place_lu: each place of a pack has the bits of dense_lu, its pivots and its failure") {
    using Number = eddy::Pack<double, 4>;
    support::Random random(11);
    for (int trial = 0; trial < 50; ++trial) {
        Lu::Matrix matrix[4]{};
        Vector b[4]{};
        eddy::PlaceLu<Number, size>::Matrix together{};
        eddy::Vec<Number, size> b_together{};
        for (int place = 0; place < 4; ++place) {
            for (int i = 0; i < size; ++i) {
                for (int j = 0; j < size; ++j) {
                    const bool is_zero = random.uniform(0, 1) < 0.3;
                    matrix[place][i][j] = is_zero ? 0 : random.uniform(-1, 1);
                }
                b[place][i] = random.uniform(-1, 1);
            }
            if (trial % 5 == 1 && place == 2) matrix[place][3] = 2. * matrix[place][1];
            if (trial % 5 == 2 && place == 1) matrix[place][4][2] = std::nan("");
            for (int i = 0; i < size; ++i) {
                for (int j = 0; j < size; ++j) together[i][j].set(place, matrix[place][i][j]);
                b_together[i].set(place, b[place][i]);
            }
        }

        eddy::PlaceLu<Number, size> places;
        const Number column = places.factor(together);
        const auto x_together = places.solve(b_together);

        for (int place = 0; place < 4; ++place) {
            Lu alone;
            const int failed = alone.factor(matrix[place]);
            CAPTURE(trial, place);
            CHECK(column[place] == failed);
            if (failed >= 0) continue;
            const Vector x = alone.solve(b[place]);
            for (int i = 0; i < size; ++i) CHECK(x_together[i][place] == x[i]);
        }
    }
}
