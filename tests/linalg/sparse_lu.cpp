#include <Eigen/Dense>
#include <eddy/core/lanes.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/linalg/dual_lu.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using eddy::Dual, eddy::Pack, eddy::SparseLu, eddy::Vec;

/// Entries off the diagonal wherever a hash of the place says so, `percent` of them.
template <int rows, int percent, unsigned seed>
struct RandomPattern {
    static constexpr int size = rows;
    static constexpr bool has(int row, int column) {
        unsigned hash = seed + static_cast<unsigned>(row * rows + column) * 2654435761u;
        hash = (hash ^ (hash >> 15)) * 2246822519u;
        return row == column || (hash ^ (hash >> 13)) % 100 < percent;
    }
    static constexpr int num_entries = [] {
        int count = 0;
        for (int i = 0; i < rows * rows; ++i) count += has(i / rows, i % rows) ? 1 : 0;
        return count;
    }();
    static constexpr auto pattern = [] {
        Vec<eddy::MatrixEntry, num_entries> entries{};
        int e = 0;
        for (int i = 0; i < rows * rows; ++i) {
            if (has(i / rows, i % rows)) entries[e++] = {i / rows, i % rows};
        }
        return entries;
    }();
};

/// Values of a matrix whose diagonal dominates its columns.
template <class Structure>
auto random_entries(support::Random& random) {
    Vec<double, Structure::num_entries> values{};
    double column_sum[Structure::size] = {};
    for (int e = 0; e < Structure::num_entries; ++e) {
        values[e] = random.uniform(-1, 1);
        column_sum[Structure::pattern[e].column] += std::abs(values[e]);
    }
    for (int e = 0; e < Structure::num_entries; ++e) {
        if (Structure::pattern[e].row == Structure::pattern[e].column)
            values[e] = 0.1 + column_sum[Structure::pattern[e].row];
    }
    return values;
}

template <class Structure>
Eigen::MatrixXd dense(const Vec<double, Structure::num_entries>& values) {
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(Structure::size, Structure::size);
    for (int e = 0; e < Structure::num_entries; ++e)
        matrix(Structure::pattern[e].row, Structure::pattern[e].column) = values[e];
    return matrix;
}

template <class Structure>
auto random_vector(support::Random& random) {
    Vec<double, Structure::size> b{};
    for (int i = 0; i < Structure::size; ++i) b[i] = random.uniform(-1, 1);
    return b;
}

template <int size>
double distance(const Vec<double, size>& x, const Eigen::VectorXd& y) {
    double largest = 0;
    for (int i = 0; i < size; ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
    return largest / y.lpNorm<Eigen::Infinity>();
}

template <class Structure>
void check_against_eigen() {
    support::Random random(Structure::num_entries);
    for (int trial = 0; trial < 50; ++trial) {
        const auto values = random_entries<Structure>(random);
        const auto b = random_vector<Structure>(random);
        const Eigen::MatrixXd matrix = dense<Structure>(values);
        const Eigen::Map<const Eigen::VectorXd> right(b.data, Structure::size);

        SparseLu<Structure, double> lu;
        lu.factor(values);

        REQUIRE(distance(lu.solve(b), matrix.partialPivLu().solve(right)) <= 1e-12);
        REQUIRE(distance(lu.solve_transposed(b), matrix.transpose().partialPivLu().solve(right)) <=
                1e-12);
        REQUIRE_FALSE(lu.has_grown(values));
    }
}

using Medium = RandomPattern<9, 30, 5>;

}  // namespace

TEST_CASE("sparse_lu: patterns of all densities are solved as by Eigen") {
    check_against_eigen<RandomPattern<1, 0, 1>>();
    check_against_eigen<RandomPattern<2, 100, 1>>();
    check_against_eigen<RandomPattern<5, 40, 1>>();
    check_against_eigen<RandomPattern<5, 40, 2>>();
    check_against_eigen<Medium>();
    check_against_eigen<RandomPattern<12, 0, 3>>();
    check_against_eigen<RandomPattern<12, 15, 4>>();
    check_against_eigen<RandomPattern<8, 100, 6>>();
}

TEST_CASE("sparse_lu: every place of a pack has the bits of a plain number") {
    support::Random random(3);
    using Wide = Pack<double, 4>;
    Vec<Wide, Medium::num_entries> values{};
    Vec<Wide, Medium::size> b{};
    Vec<double, Medium::num_entries> of_place[4];
    Vec<double, Medium::size> b_of_place[4];
    for (int place = 0; place < 4; ++place) {
        of_place[place] = random_entries<Medium>(random);
        b_of_place[place] = random_vector<Medium>(random);
        for (int e = 0; e < Medium::num_entries; ++e)
            eddy::set_lane(values[e], place, of_place[place][e]);
        for (int i = 0; i < Medium::size; ++i) eddy::set_lane(b[i], place, b_of_place[place][i]);
    }

    SparseLu<Medium, Wide> lu;
    lu.factor(values);
    const auto x = lu.solve(b), z = lu.solve_transposed(b);

    for (int place = 0; place < 4; ++place) {
        SparseLu<Medium, double> plain;
        plain.factor(of_place[place]);
        const auto plain_x = plain.solve(b_of_place[place]);
        const auto plain_z = plain.solve_transposed(b_of_place[place]);
        for (int i = 0; i < Medium::size; ++i) {
            CHECK(eddy::get_lane(x[i], place) == plain_x[i]);
            CHECK(eddy::get_lane(z[i], place) == plain_z[i]);
        }
    }
}

TEST_CASE("sparse_lu: tangents of a solution are those of the formula with dense matrices") {
    support::Random random(11);
    const auto value = random_entries<Medium>(random), rate = random_entries<Medium>(random);
    const auto b = random_vector<Medium>(random), b_rate = random_vector<Medium>(random);
    Vec<Dual<double>, Medium::num_entries> entries{};
    Vec<Dual<double>, Medium::size> right{};
    for (int e = 0; e < Medium::num_entries; ++e) entries[e] = {value[e], rate[e]};
    for (int i = 0; i < Medium::size; ++i) right[i] = {b[i], b_rate[i]};
    const Eigen::MatrixXd matrix = dense<Medium>(value), slope = dense<Medium>(rate);
    const Eigen::Map<const Eigen::VectorXd> eigen_b(b.data, Medium::size),
        eigen_rate(b_rate.data, Medium::size);

    SparseLu<Medium, Dual<double>> lu;
    lu.factor(entries);

    for (const bool transposed : {false, true}) {
        const auto x = transposed ? lu.solve_transposed(right) : lu.solve(right);
        const Eigen::MatrixXd a = transposed ? matrix.transpose() : matrix;
        const Eigen::MatrixXd a_rate = transposed ? slope.transpose() : slope;
        const Eigen::VectorXd primal = a.partialPivLu().solve(eigen_b);
        const Eigen::VectorXd tangent = a.partialPivLu().solve(eigen_rate - a_rate * primal);
        Vec<double, Medium::size> x_value{}, x_tangent{};
        for (int i = 0; i < Medium::size; ++i) {
            x_value[i] = x[i].value;
            x_tangent[i] = x[i].tangent;
        }
        CHECK(distance(x_value, primal) <= 1e-12);
        CHECK(distance(x_tangent, tangent) <= 1e-12);
    }
}

TEST_CASE("sparse_lu: growth is told from a pivot that vanishes, whatever the scales") {
    using Full = RandomPattern<2, 100, 1>;
    SparseLu<Full, double> lu;
    const auto grows = [&](double a, double b, double c, double d) {
        const Vec<double, 4> entries{{a, b, c, d}};
        lu.factor(entries);
        return lu.has_grown(entries);
    };

    CHECK_FALSE(grows(1, 1e6, -1e6, 1));       // a fast rotation: 12 of 15 digits are left
    CHECK(grows(1, 1e9, -1e9, 1));             // a faster one: none
    CHECK(grows(1, 1e19, -0.1, 1));            // the same in other units
    CHECK_FALSE(grows(1, 1e30, 1e-31, 1));     // no growth, in strange units
    CHECK_FALSE(grows(1, -1, -1, 1 + 1e-12));  // a sum that is conserved
}

TEST_CASE("sparse_lu: a pivot of zero gives no finite solution") {
    using Full = RandomPattern<2, 100, 1>;
    SparseLu<Full, double> lu;
    lu.factor({{1, 2, 2, 4}});

    const auto x = lu.solve({{1, 1}});

    CHECK_FALSE(x[0] - x[0] == 0);
    CHECK_FALSE(x[1] - x[1] == 0);
}
