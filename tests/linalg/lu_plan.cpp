#include <Eigen/Dense>
#include <eddy/ad/jacobian.hpp>
#include <eddy/linalg/lu_plan.hpp>
#include <eddy/trace/field.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/stiff_equations.hpp"

namespace {

/// What a plan says, done one step after the other.
class Factors {
  public:
    Factors(const eddy::LuPlan& plan, const Eigen::MatrixXd& matrix)
        : plan_(plan), f_(static_cast<std::size_t>(plan.num_factors), std::nan("")) {
        for (int row = 0; row < matrix.rows(); ++row) {
            for (int column = 0; column < matrix.cols(); ++column) {
                if (matrix(row, column) != 0) at(plan.at(row, column)) = matrix(row, column);
            }
        }
        for (const eddy::LuStep& step : plan.factor) {
            if (step.kind == eddy::LuStep::invert) at(step.to) = 1 / at(step.to);
            if (step.kind == eddy::LuStep::scale) at(step.to) *= at(step.a);
            if (step.kind == eddy::LuStep::subtract) at(step.to) -= at(step.a) * at(step.b);
            if (step.kind == eddy::LuStep::fill) at(step.to) = -at(step.a) * at(step.b);
        }
    }
    Eigen::VectorXd solve(Eigen::VectorXd x, bool transposed) const {
        for (const eddy::LuStep& step : transposed ? plan_.solve_transposed : plan_.solve) {
            const double factor = f_[static_cast<std::size_t>(step.a)];
            if (step.kind == eddy::LuStep::scale) x[step.to] *= factor;
            if (step.kind == eddy::LuStep::subtract) x[step.to] -= factor * x[step.b];
        }
        return x;
    }

  private:
    double& at(int place) { return f_[static_cast<std::size_t>(place)]; }
    const eddy::LuPlan& plan_;
    std::vector<double> f_;
};

eddy::SquarePattern pattern_of(const Eigen::MatrixXd& matrix) {
    eddy::SquarePattern pattern(static_cast<int>(matrix.rows()));
    for (int row = 0; row < matrix.rows(); ++row) {
        for (int column = 0; column < matrix.cols(); ++column) {
            if (matrix(row, column) != 0) pattern.insert(row, column);
        }
    }
    return pattern;
}

/// The pattern of a field's Jacobian with the diagonal.
template <class Field>
eddy::LuPlan plan_of() {
    constexpr auto jacobian = eddy::jacobian<1>(eddy::FieldProgram<Field>{});
    eddy::SquarePattern pattern(Field::state_size);
    for (const eddy::JacobianEntry& entry : jacobian.pattern)
        pattern.insert(entry.row, entry.column);
    return eddy::plan_lu(pattern);
}

/// Entries off the diagonal in the row and in the column of an unknown, among those left, counted anew.
eddy::detail::Degrees degrees_of(const eddy::SquarePattern& pattern,
                                 const std::vector<char>& is_left, int unknown) {
    eddy::detail::Degrees degrees;
    for (int other = 0; other < pattern.size(); ++other) {
        if (other == unknown || !is_left[static_cast<std::size_t>(other)]) continue;
        degrees.row += pattern.has(unknown, other) ? 1 : 0;
        degrees.column += pattern.has(other, unknown) ? 1 : 0;
    }
    return degrees;
}

/// Adds to the pattern what the elimination of an unknown fills in.
void fill_in(eddy::SquarePattern& pattern, const std::vector<char>& is_left, int unknown) {
    for (int row = 0; row < pattern.size(); ++row) {
        if (!is_left[static_cast<std::size_t>(row)] || !pattern.has(row, unknown)) continue;
        for (int column = 0; column < pattern.size(); ++column) {
            if (is_left[static_cast<std::size_t>(column)] && pattern.has(unknown, column))
                pattern.insert(row, column);
        }
    }
}

int count(const eddy::List<eddy::LuStep>& steps, eddy::LuStep::Kind kind) {
    int found = 0;
    for (const eddy::LuStep& step : steps) found += step.kind == kind ? 1 : 0;
    return found;
}

}  // namespace

TEST_CASE("lu_plan: random matrices of 1 to 24 rows are solved as by Eigen, transposed as well") {
    support::Random random(7);
    for (int trial = 0; trial < 1000; ++trial) {
        const int size = 1 + trial % 24;
        const double density = random.uniform(0, 1);
        Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(size, size);
        for (int i = 0; i < size; ++i) {
            for (int j = 0; j < size; ++j) {
                if (random.uniform(0, 1) < density) matrix(i, j) = random.uniform(-1, 1);
            }
        }
        for (int i = 0; i < size; ++i) matrix(i, i) = 0.1 + matrix.col(i).cwiseAbs().sum();
        const Eigen::VectorXd b =
            Eigen::VectorXd::NullaryExpr(size, [&] { return random.uniform(-1, 1); });

        const eddy::LuPlan plan = eddy::plan_lu(pattern_of(matrix));
        const Factors factors(plan, matrix);

        const Eigen::VectorXd x = matrix.partialPivLu().solve(b);
        const Eigen::VectorXd z = matrix.transpose().partialPivLu().solve(b);
        // Dominant diagonals: no growth; the condition is below 40 · size / 0.1.
        REQUIRE((factors.solve(b, false) - x).norm() <= 1e-12 * x.norm());
        REQUIRE((factors.solve(b, true) - z).norm() <= 1e-12 * z.norm());
    }
}

TEST_CASE("lu_plan: entries and operations for equations of chemistry") {
    const eddy::LuPlan robertson = plan_of<support::Robertson>(), hires = plan_of<support::Hires>(),
                       pollution = plan_of<support::Pollution>(),
                       oregonator = plan_of<support::Oregonator>();
    using eddy::LuStep;

    CHECK(oregonator.num_factors == 7);
    CHECK(robertson.num_factors == 8);
    CHECK(hires.num_factors == 27);
    CHECK(pollution.num_factors == 94);  // 262 in the natural order, 400 dense

    const auto products = [](const eddy::LuPlan& plan) {
        return count(plan.factor, LuStep::subtract) + count(plan.factor, LuStep::fill);
    };
    CHECK(products(robertson) == 3);
    CHECK(count(robertson.factor, LuStep::scale) == 2);
    CHECK(products(hires) == 13);
    CHECK(count(hires.factor, LuStep::scale) == 8);
    CHECK(products(pollution) == 71);  // 2,470 dense
    CHECK(count(pollution.factor, LuStep::scale) == 35);
    CHECK(count(pollution.factor, LuStep::invert) == 20);
    CHECK(count(pollution.solve, LuStep::subtract) == 74);
    CHECK(count(pollution.solve_transposed, LuStep::subtract) == 74);
    CHECK(count(pollution.solve, LuStep::scale) == 20);
}

TEST_CASE("lu_plan: a star is eliminated from its rays, an arrow fills nothing in") {
    eddy::SquarePattern star(9);
    for (int i = 0; i < 9; ++i) {
        star.insert(0, i);
        star.insert(i, 0);
        star.insert(i, i);
    }

    const eddy::Elimination elimination = eddy::eliminate(star);

    CHECK(elimination.filled.num_entries() == star.num_entries());
    CHECK(elimination.order == std::vector<int>{1, 2, 3, 4, 5, 6, 7, 0, 8});
}

TEST_CASE("lu_plan: a long chain keeps its order, a long star is eliminated from its rays") {
    constexpr int size = 300;
    eddy::SquarePattern chain(size), star(size), two_ahead(size);
    for (int i = 0; i < size; ++i) {
        for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < size; ++j) chain.insert(i, j);
        for (int j : {0, i}) star.insert(i, j);
        star.insert(0, i);
        for (int j : {i > 1 ? i - 2 : 0, i}) two_ahead.insert(i, j);
        two_ahead.insert(i, i + 1 < size ? i + 1 : i);
    }

    const eddy::LuPlan of_chain = eddy::plan_lu(chain);
    for (int k = 0; k < size; ++k) CHECK(of_chain.elimination.order[std::size_t(k)] == k);
    CHECK(of_chain.num_factors == 3 * size - 2);
    CHECK(of_chain.factor.size() == 3 * size - 2);
    CHECK(of_chain.elimination.num_steps == 3 * size - 2);

    CHECK(eddy::detail::steps_without_fill(star) == -1);
    CHECK(eddy::plan_lu(star).num_factors == 3 * size - 2);
    CHECK(eddy::detail::steps_without_fill(two_ahead) == -1);
}

TEST_CASE("lu_plan: each pivot has the shortest row and column of what is left, counted anew") {
    support::Random random(11);
    for (int trial = 0; trial < 500; ++trial) {
        const int size = 1 + trial % 30;
        const double density = random.uniform(0, 0.3);
        eddy::SquarePattern pattern(size);
        for (int i = 0; i < size; ++i) {
            for (int j = 0; j < size; ++j) {
                if (i == j || random.uniform(0, 1) < density) pattern.insert(i, j);
            }
        }

        const eddy::Elimination elimination = eddy::eliminate(pattern);

        std::vector<char> is_left(static_cast<std::size_t>(size), 1);
        for (const int pivot : elimination.order) {
            const auto of_pivot = degrees_of(pattern, is_left, pivot);
            for (int i = 0; i < size; ++i) {
                if (i == pivot || !is_left[static_cast<std::size_t>(i)]) continue;
                const auto of_other = degrees_of(pattern, is_left, i);
                REQUIRE_FALSE(of_other.precede(of_pivot));
                REQUIRE((i > pivot || of_pivot.precede(of_other)));
            }
            is_left[static_cast<std::size_t>(pivot)] = 0;
            fill_in(pattern, is_left, pivot);
        }
        REQUIRE(pattern.entries() == elimination.filled.entries());
    }
}

TEST_CASE(
    "lu_plan: a chain of 20,000 unknowns is planned by its entries, each read once by a solve") {
    constexpr int size = 20000;
    eddy::SquarePattern chain(size);
    for (int i = 0; i < size; ++i) {
        for (int j = std::max(0, i - 1); j < std::min(size, i + 2); ++j) chain.insert(i, j);
    }

    const eddy::LuPlan plan = eddy::plan_lu(chain);

    CHECK(plan.num_factors == 3 * size - 2);
    CHECK(plan.elimination.num_steps == static_cast<int>(plan.factor.size()));
    CHECK(plan.factor.size() == 3 * size - 2);
    CHECK(plan.solve.size() == 3 * size - 2);
    CHECK(plan.solve_transposed.size() == 3 * size - 2);
}
