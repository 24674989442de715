#pragma once
// Mass matrices: M dy/dt = f(t, y, p) with a constant M, a member of the field,
//
//   static constexpr double mass[state_size][state_size] = { … };
//
// which may be singular. All that follows from M alone is known when a program is compiled. With the
// rows N of the left and the columns K of the right null space,
//
//   N M = 0,   M K = 0:   N f(t, y, p) = 0 are algebraic equations, which have to determine y along K:
//
// N (∂f/∂y) K must be regular, which is to say that the index is 1. Where K has a unit vector, that
// component of y is an algebraic one.
// Test: tests/solve/dae.cpp

#include <eddy/core/vec.hpp>
#include <eddy/core/vec_math.hpp>
#include <eddy/steppers/add_scaled.hpp>
#include <eddy/trace/field.hpp>
#include <limits>
#include <type_traits>

namespace eddy::inline v0 {

/// Methods that solve M dy/dt = f(t, y, p).
template <class Method>
inline constexpr bool takes_mass = false;

namespace detail {

/// M by elimination with full pivoting.
template <int size>
struct MassAnalysis {
    int rank = 0;
    double left[size][size]{};     // the first size − rank rows: N
    double right[size][size]{};    // [k], the first size − rank: the k-th column of K
    int free_component[size]{};    // of that column: where it is 1 and the others are 0
    double inverse[size][size]{};  // G with M G f = f for every f that is some M x
};

constexpr double magnitude(double x) { return x < 0 ? -x : x; }

/// Gauss–Jordan elimination of M beside a unit matrix.
template <int size>
class MassElimination {
  public:
    constexpr explicit MassElimination(const double (&mass)[size][size]) {
        double largest = 0;
        for (int i = 0; i < size; ++i) {
            for (int j = 0; j < size; ++j) {
                m_[i][j] = mass[i][j];
                if (magnitude(mass[i][j]) > largest) largest = magnitude(mass[i][j]);
            }
            e_[i][i] = 1;
            column_[i] = i;
        }
        lost_ = size * largest * std::numeric_limits<double>::epsilon();
        while (rank_ < size && bring_up_pivot()) clear_column();
    }
    [[nodiscard]] constexpr MassAnalysis<size> result() const {
        MassAnalysis<size> of;
        of.rank = rank_;
        for (int k = 0; k < size - rank_; ++k) {
            for (int j = 0; j < size; ++j) of.left[k][j] = e_[rank_ + k][j];
            for (int i = 0; i < rank_; ++i) of.right[k][column_[i]] = -m_[i][rank_ + k];
            of.free_component[k] = column_[rank_ + k];
            of.right[k][column_[rank_ + k]] = 1;
        }
        for (int i = 0; i < rank_; ++i) {
            for (int j = 0; j < size; ++j) of.inverse[column_[i]][j] = e_[i][j];
        }
        return of;
    }

  private:
    /// The largest entry of what is left becomes the next pivot; false where that is nothing.
    constexpr bool bring_up_pivot() {
        int row = rank_, column = rank_;
        for (int i = rank_; i < size; ++i) {
            for (int j = rank_; j < size; ++j) {
                if (magnitude(m_[i][j]) > magnitude(m_[row][column])) {
                    row = i;
                    column = j;
                }
            }
        }
        if (!(magnitude(m_[row][column]) > lost_)) return false;
        for (int j = 0; j < size; ++j) {
            exchange(m_[row][j], m_[rank_][j]);
            exchange(e_[row][j], e_[rank_][j]);
        }
        for (int i = 0; i < size; ++i) exchange(m_[i][column], m_[i][rank_]);
        const int number = column_[column];
        column_[column] = column_[rank_];
        column_[rank_] = number;
        return true;
    }
    constexpr void clear_column() {
        const int k = rank_++;
        const double pivot = m_[k][k];
        for (int j = 0; j < size; ++j) {
            m_[k][j] /= pivot;
            e_[k][j] /= pivot;
        }
        for (int i = 0; i < size; ++i) {
            const double weight = m_[i][k];
            if (i == k || weight == 0) continue;
            for (int j = 0; j < size; ++j) {
                m_[i][j] -= weight * m_[k][j];
                e_[i][j] -= weight * e_[k][j];
            }
        }
    }
    static constexpr void exchange(double& a, double& b) {
        const double kept = a;
        a = b;
        b = kept;
    }

    double m_[size][size]{}, e_[size][size]{};  // e_ M = m_, but for the order of m_'s columns
    int column_[size]{};                        // of M, for each of m_
    int rank_ = 0;
    double lost_ = 0;  // what is smaller is left over by rounding
};

template <class Field>
consteval bool is_constant_mass() {
    return requires { typename std::bool_constant<(Field::mass[0][0] < 0)>; };
}
template <class Field>
consteval bool is_finite_mass() {
    for (const auto& row : Field::mass) {
        for (const double x : row) {
            if (!(x - x == 0)) return false;
        }
    }
    return true;
}

/// Says what is wrong with the mass matrix of a field that has one.
template <class Field>
consteval bool check_mass_values() {
    if constexpr (has_mass<Field>) {
        using Given = std::remove_cv_t<std::remove_reference_t<decltype(Field::mass)>>;
        constexpr bool fits =
            std::is_same_v<std::remove_all_extents_t<std::remove_cv_t<Given>>, double> &&
            std::rank_v<Given> == 2 && std::extent_v<Given, 0> == Field::state_size &&
            std::extent_v<Given, 1> == Field::state_size;
        constexpr bool is_constant = is_constant_mass<Field>();
        static_assert(fits && is_constant,
                      "vector field: mass must be a member `static constexpr double "
                      "mass[state_size][state_size]`");
        if constexpr (fits && is_constant) {
            static_assert(is_finite_mass<Field>(), "vector field: mass must be finite");
            return is_finite_mass<Field>();
        }
        return false;
    }
    return true;
}

}  // namespace detail

template <int length>
struct UnitMatrix {
    static constexpr int size = length;
    static constexpr bool is_identity = true;
    static constexpr int num_constraints = 0;
    [[nodiscard]] static constexpr double entry(int row, int column) {
        return row == column ? 1 : 0;
    }
};

/// What multiplies dy/dt: the unit matrix unless the field says otherwise.
template <class Field>
struct MassMatrix : UnitMatrix<Field::state_size> {
    using UnitMatrix<Field::state_size>::size;
    template <class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD static const Vec<Number, size>& times(
        const Vec<Number, size>& x) {
        return x;
    }
    template <class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD static const Vec<Number, size>& transposed_times(
        const Vec<Number, size>& x) {
        return x;
    }
    template <class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD static const Vec<Number, size>& slope(
        const Vec<Number, size>& f) {
        return f;
    }
};

template <class Field>
requires has_mass<Field>
struct MassMatrix<Field> {
    static_assert(detail::check_mass_values<Field>());
    static constexpr int size = Field::state_size;
    static constexpr bool is_identity = false;
    static constexpr auto analysis = detail::MassElimination<size>(Field::mass).result();
    /// Algebraic equations among the rows of M dy/dt = f, or among their sums.
    static constexpr int num_constraints = size - analysis.rank;

    [[nodiscard]] static constexpr double entry(int row, int column) {
        return Field::mass[row][column];
    }
    /// Is this component one of which no derivative is taken?
    [[nodiscard]] static constexpr bool is_algebraic(int component) {
        for (int row = 0; row < size; ++row) {
            if (Field::mass[row][component] != 0) return false;
        }
        return true;
    }

    template <class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD static Vec<Number, size> times(const Vec<Number, size>& x) {
        return product<size, OfMass>(x);
    }
    template <class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD static Vec<Number, size> transposed_times(
        const Vec<Number, size>& x) {
        return product<size, Transposed<OfMass>>(x);
    }
    /// dy/dt as far as M f determines it; algebraic components have none.
    template <class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD static Vec<Number, size> slope(const Vec<Number, size>& f) {
        return product<size, OfInverse>(f);
    }
    /// N x, and N transposed; K x, and K transposed.
    template <class Number>
    [[nodiscard]] EDDY_HD static Vec<Number, num_constraints> left(const Vec<Number, size>& x) {
        return product<num_constraints, OfLeft>(x);
    }
    template <class Number>
    [[nodiscard]] EDDY_HD static Vec<Number, size> left_transposed(
        const Vec<Number, num_constraints>& x) {
        return product<size, Transposed<OfLeft>>(x);
    }
    template <class Number>
    [[nodiscard]] EDDY_HD static Vec<Number, size> right(const Vec<Number, num_constraints>& x) {
        return product<size, Transposed<OfRight>>(x);
    }
    template <class Number>
    [[nodiscard]] EDDY_HD static Vec<Number, num_constraints> right_transposed(
        const Vec<Number, size>& x) {
        return product<num_constraints, OfRight>(x);
    }

  private:
    struct OfMass {
        static constexpr double at(int i, int j) { return Field::mass[i][j]; }
    };
    struct OfInverse {
        static constexpr double at(int i, int j) { return analysis.inverse[i][j]; }
    };
    struct OfLeft {
        static constexpr double at(int i, int j) { return analysis.left[i][j]; }
    };
    struct OfRight {
        static constexpr double at(int i, int j) { return analysis.right[i][j]; }
    };
    template <class Matrix>
    struct Transposed {
        static constexpr double at(int i, int j) { return Matrix::at(j, i); }
    };
    /// The product with a constant matrix, whose zeros take no part.
    template <int rows, class Matrix, class Number, int columns>
    [[nodiscard]] EDDY_INLINE EDDY_HD static Vec<Number, rows> product(
        const Vec<Number, columns>& x) {
        Vec<Number, rows> sums{};
        static_for<0, rows>([&]<int i>() EDDY_INLINE {
            Number sum = convert<Number>(0);
            static_for<0, columns>([&]<int j>() EDDY_INLINE {
                constexpr double weight = Matrix::at(i, j);
                if constexpr (weight == 1)
                    sum = sum + x.data[j];
                else if constexpr (weight != 0)
                    sum = mul_add(PrimalOf<Number>(static_cast<ScalarOf<Number>>(weight)),
                                  x.data[j], sum);
            });
            sums.data[i] = sum;
        });
        return sums;
    }
};

}  // namespace eddy::inline v0
