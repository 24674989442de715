#pragma once
// LU factors of a small dense matrix with partial pivoting, for one system at a time: what is solved
// once a lane, where there is neither a pattern nor a reason to trust the diagonal. Rows are scaled by
// their largest entries first, so that the choice of pivots does not depend on the units of equations.
// Of dual numbers the values choose.
// Test: tests/linalg/dense_lu.cpp

#include <eddy/core/math.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/core/vec.hpp>
#include <limits>

namespace eddy::inline v0 {

/// The factors of a matrix of `size` rows and columns, of plain or dual numbers.
template <class Number, int size>
class DenseLu {
    using Primal = PrimalOf<Number>;

  public:
    using Vector = Vec<Number, size>;
    using Matrix = Vec<Vector, size>;  // (row, column)

    /// The column of the first pivot that is zero but for rounding errors, or not finite, after which
    /// there are no factors; −1 where all is well.
    [[nodiscard]] EDDY_HD constexpr int factor(const Matrix& matrix) {
        lu_ = matrix;
        Vec<Primal, size> largest{};  // (column) of the scaled matrix
        for (int i = 0; i < size; ++i) {
            Primal row(0);
            for (int j = 0; j < size; ++j) row = larger(row, entry(i, j));
            scale_[i] = row > Primal(0) ? Primal(1) / row : Primal(1);
            for (int j = 0; j < size; ++j) {
                lu_[i][j] = lu_[i][j] * scale_[i];
                largest[j] = larger(largest[j], entry(i, j));
            }
            order_[i] = i;
        }
        for (int k = 0; k < size; ++k) {
            bring_up_pivot(k);
            const Primal lost =
                largest[k] * Primal(4 * size * std::numeric_limits<Primal>::epsilon());
            if (!(entry(k, k) > lost && entry(k, k) <= std::numeric_limits<Primal>::max()))
                return k;
            eliminate(k);
        }
        return -1;
    }

    /// x with A x = b.
    [[nodiscard]] EDDY_HD constexpr Vector solve(const Vector& b) const {
        Vector x{};
        for (int i = 0; i < size; ++i) {
            x[i] = b[order_[i]] * scale_[order_[i]];
            for (int j = 0; j < i; ++j) x[i] = x[i] - lu_[i][j] * x[j];
        }
        for (int i = size; i-- > 0;) {
            for (int j = i + 1; j < size; ++j) x[i] = x[i] - lu_[i][j] * x[j];
            x[i] = x[i] / lu_[i][i];
        }
        return x;
    }
    /// x with Aᵀ x = b.
    [[nodiscard]] EDDY_HD constexpr Vector solve_transposed(const Vector& b) const {
        Vector w = b, x{};
        for (int i = 0; i < size; ++i) {
            for (int j = 0; j < i; ++j) w[i] = w[i] - lu_[j][i] * w[j];
            w[i] = w[i] / lu_[i][i];
        }
        for (int i = size; i-- > 0;) {
            for (int j = i + 1; j < size; ++j) w[i] = w[i] - lu_[j][i] * w[j];
            x[order_[i]] = w[i] * scale_[order_[i]];
        }
        return x;
    }

  private:
    [[nodiscard]] EDDY_HD constexpr Primal entry(int i, int j) const {
        const Primal value = primal(lu_[i][j]);
        return value < Primal(0) ? -value : value;
    }
    /// NaN counts as larger than all.
    [[nodiscard]] EDDY_HD static constexpr Primal larger(const Primal& a, const Primal& b) {
        return a >= b ? a : b;
    }
    EDDY_HD constexpr void bring_up_pivot(int k) {
        int best = k;
        for (int i = k + 1; i < size; ++i) {
            if (entry(i, k) > entry(best, k)) best = i;
        }
        const Vector row = lu_[best];
        lu_[best] = lu_[k];
        lu_[k] = row;
        const int number = order_[best];
        order_[best] = order_[k];
        order_[k] = number;
    }
    EDDY_HD constexpr void eliminate(int k) {
        for (int i = k + 1; i < size; ++i) {
            lu_[i][k] = lu_[i][k] / lu_[k][k];
            for (int j = k + 1; j < size; ++j) lu_[i][j] = lu_[i][j] - lu_[i][k] * lu_[k][j];
        }
    }

    Matrix lu_{};
    Vec<Primal, size> scale_{};  // (row of the matrix)
    Vec<int, size> order_{};     // order_[i]: the row of the matrix that became the i-th
};

}  // namespace eddy::inline v0
