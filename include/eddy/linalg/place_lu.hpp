#pragma once
// LU factors of a small dense matrix in each place of a pack, with partial pivoting in each by itself:
// places that want other pivots exchange their rows by selection. Invariant: the bits of a place are those
// of DenseLu, so that a lane does not see its neighbours.
// Test: tests/linalg/dense_lu.cpp

#include <eddy/core/lanes.hpp>
#include <eddy/core/math.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/core/vec.hpp>
#include <limits>

namespace eddy::inline v0 {

/// The factors of a matrix of `size` rows and columns, of packs or plain numbers.
template <class Number, int size>
class PlaceLu {
    using Scalar = ScalarOf<Number>;
    using Mask = MaskOf<Number>;

  public:
    using Vector = Vec<Number, size>;
    using Matrix = Vec<Vector, size>;  // (row, column)

    /// In each place the column of the first pivot that is zero but for rounding errors, or not finite,
    /// after which there are no factors; −1 where all is well. A pivot below `roundings` for each row
    /// counts as zero.
    [[nodiscard]] EDDY_HD Number factor(const Matrix& matrix, Scalar roundings = 4) {
        lu_ = matrix;
        Vector largest{};  // (column) of the scaled matrix
        for (int i = 0; i < size; ++i) scale_row(i, largest);
        Number column(Scalar(-1));
        for (int k = 0; k < size; ++k) {
            bring_up_pivot(k);
            const Number lost =
                largest[k] * Number(roundings * size * std::numeric_limits<Scalar>::epsilon());
            const Number pivot = abs(lu_[k][k]);
            const Mask holds =
                (pivot > lost) & (pivot <= Number(std::numeric_limits<Scalar>::max()));
            const Mask is_first = (column < Number(0)) & (!holds);
            column = select(is_first, Number(static_cast<Scalar>(k)), column);
            eliminate(k);
        }
        return column;
    }

    /// x with A x = b.
    [[nodiscard]] EDDY_HD Vector solve(const Vector& b) const {
        Vector x{};
        for (int i = 0; i < size; ++i) x[i] = b[i] * scale_[i];
        for (int k = 0; k < size; ++k) {
            for (int i = k + 1; i < size; ++i) exchange(pivot_[k] == index(i), x[i], x[k]);
        }
        for (int i = 0; i < size; ++i) {
            for (int j = 0; j < i; ++j) x[i] = x[i] - lu_[i][j] * x[j];
        }
        for (int i = size; i-- > 0;) {
            for (int j = i + 1; j < size; ++j) x[i] = x[i] - lu_[i][j] * x[j];
            x[i] = x[i] / lu_[i][i];
        }
        return x;
    }

  private:
    [[nodiscard]] EDDY_HD static Number index(int i) { return Number(static_cast<Scalar>(i)); }
    /// NaN counts as larger than all.
    [[nodiscard]] EDDY_HD static Number larger(const Number& a, const Number& b) {
        return select(a >= b, a, b);
    }
    EDDY_HD static void exchange(const Mask& where, Number& a, Number& b) {
        const Number from = a;
        a = select(where, b, a);
        b = select(where, from, b);
    }
    EDDY_HD void scale_row(int i, Vector& largest) {
        Number row(0);
        for (int j = 0; j < size; ++j) row = larger(row, abs(lu_[i][j]));
        scale_[i] = select(row > Number(0), Number(1) / row, Number(1));
        for (int j = 0; j < size; ++j) {
            lu_[i][j] = lu_[i][j] * scale_[i];
            largest[j] = larger(largest[j], abs(lu_[i][j]));
        }
    }
    EDDY_HD void bring_up_pivot(int k) {
        pivot_[k] = index(k);
        Number most = abs(lu_[k][k]);
        for (int i = k + 1; i < size; ++i) {
            const Number here = abs(lu_[i][k]);
            const Mask is_more = here > most;
            pivot_[k] = select(is_more, index(i), pivot_[k]);
            most = select(is_more, here, most);
        }
        for (int i = k + 1; i < size; ++i) {
            const Mask moves = pivot_[k] == index(i);
            if (!any(moves)) continue;
            for (int j = 0; j < size; ++j) exchange(moves, lu_[i][j], lu_[k][j]);
        }
    }
    EDDY_HD void eliminate(int k) {
        for (int i = k + 1; i < size; ++i) {
            lu_[i][k] = lu_[i][k] / lu_[k][k];
            for (int j = k + 1; j < size; ++j) lu_[i][j] = lu_[i][j] - lu_[i][k] * lu_[k][j];
        }
    }

    Matrix lu_{};
    Vector scale_{};  // (row of the matrix)
    Vector pivot_{};  // pivot_[k]: the row that was exchanged with the k-th
};

}  // namespace eddy::inline v0
