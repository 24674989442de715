#pragma once
// The matrix of the systems that implicit steps solve, J − M/(γh): where it may be non-zero, and in
// which order its rows are factored. An algebraic equation need not contain the component in whose row
// it stands; rows are then exchanged, so that every pivot has an entry to begin with, and one of M
// where there is one, for those outweigh all others as h goes to 0.
// Test: tests/steppers/rosenbrock.cpp, tests/steppers/esdirk.cpp

#include <eddy/ad/jacobian.hpp>
#include <eddy/core/vec.hpp>
#include <eddy/linalg/symbolic_lu.hpp>
#include <eddy/linalg/transversal.hpp>
#include <eddy/steppers/mass_matrix.hpp>

namespace eddy::inline v0 {

namespace detail {

/// The patterns of M and of J − M/(γh).
template <class Model, class Mass>
struct StepPatterns {
    SquarePattern mass{Model::size}, matrix{Model::size};

    constexpr StepPatterns() {
        for (const JacobianEntry& entry : Model::pattern()) matrix.insert(entry.row, entry.column);
        for (int i = 0; i < Model::size; ++i) {
            for (int j = is_unit ? i : 0; j < (is_unit ? i + 1 : Model::size); ++j) {
                if (Mass::entry(i, j) == 0) continue;
                mass.insert(i, j);
                matrix.insert(i, j);
            }
        }
    }
    static constexpr bool is_unit = std::is_base_of_v<UnitMatrix<Model::size>, Mass>;
};

/// Does the pattern of N J K allow a regular matrix, as index 1 wants it?
template <class Model, class Mass>
constexpr bool may_have_index_one() {
    if constexpr (Mass::num_constraints > 0) {
        SquarePattern pattern(Mass::num_constraints);
        for (const JacobianEntry& entry : Model::pattern()) {
            for (int k = 0; k < pattern.size(); ++k) {
                for (int l = 0; l < pattern.size(); ++l) {
                    if (Mass::analysis.left[k][entry.row] != 0 &&
                        Mass::analysis.right[l][entry.column] != 0)
                        pattern.insert(k, l);
                }
            }
        }
        for (const int column : transversal(pattern, pattern)) {
            if (column < 0) return false;
        }
    }
    return true;
}

/// The entries of the Jacobian, then those of M that are missing.
template <class Model, class Mass, int most>
struct StepEntries {
    Vec<MatrixEntry, most> entry{};    // as they stand in J and M
    Vec<MatrixEntry, most> pattern{};  // with the rows in the order in which they are factored
    Vec<int, Model::size> place_of_row{};
    int count = 0;

    constexpr StepEntries() {
        const StepPatterns<Model, Mass> patterns;
        SquarePattern jacobian(Model::size);
        for (const JacobianEntry& of : Model::pattern()) {
            jacobian.insert(of.row, of.column);
            entry[count++] = {of.row, of.column};
        }
        for (const MatrixEntry& of : patterns.mass.entries()) {
            if (!jacobian.has(of.row, of.column)) entry[count++] = of;
        }
        const List<int> columns = transversal(patterns.mass, patterns.matrix);
        for (int i = 0; i < Model::size; ++i)
            place_of_row[i] = columns[static_cast<std::size_t>(i)];
        for (int e = 0; e < count; ++e) pattern[e] = {place_of_row[entry[e].row], entry[e].column};
    }
};

/// J − M/(γh).
template <class Model, class Mass = UnitMatrix<Model::size>>
struct StepMatrix {
    static_assert(
        may_have_index_one<Model, Mass>(),
        "vector field: its algebraic equations, those of the rows that `mass` leaves "
        "without a derivative, do not determine its algebraic components, for the index "
        "is above 1; differentiate them with respect to time, or choose other components");
    static constexpr int size = Model::size;
    static constexpr int num_entries = StepPatterns<Model, Mass>().matrix.num_entries();
    static constexpr StepEntries<Model, Mass, num_entries> list{};
    static constexpr auto entry = list.entry;
    static constexpr auto pattern = list.pattern;
    /// (row): which entry is on the diagonal; −1: none.
    static constexpr auto diagonal = [] {
        Vec<int, size> of_row{};
        for (int i = 0; i < size; ++i) of_row[i] = -1;
        for (int e = 0; e < num_entries; ++e) {
            if (entry[e].row == entry[e].column) of_row[entry[e].row] = e;
        }
        return of_row;
    }();
    /// (entry): that of M.
    static constexpr auto mass = [] {
        Vec<double, num_entries> of_entry{};
        for (int e = 0; e < num_entries; ++e)
            of_entry[e] = Mass::entry(entry[e].row, entry[e].column);
        return of_entry;
    }();
    static constexpr bool keeps_order = [] {
        for (int i = 0; i < size; ++i) {
            if (list.place_of_row[i] != i) return false;
        }
        return true;
    }();

    /// A right-hand side in the order of the pattern's rows, and what belongs to them in the order in
    /// which they are written.
    template <class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD static decltype(auto) in_order(const Vec<Number, size>& b) {
        if constexpr (keeps_order) {
            return (b);
        } else {
            Vec<Number, size> rows{};
            static_for<0, size>([&]<int i>() EDDY_INLINE {
                constexpr int place = list.place_of_row[i];
                rows.data[place] = b.data[i];
            });
            return rows;
        }
    }
    template <class Number>
    [[nodiscard]] EDDY_INLINE EDDY_HD static decltype(auto) as_written(
        const Vec<Number, size>& rows) {
        if constexpr (keeps_order) {
            return (rows);
        } else {
            Vec<Number, size> b{};
            static_for<0, size>([&]<int i>() EDDY_INLINE {
                constexpr int place = list.place_of_row[i];
                b.data[i] = rows.data[place];
            });
            return b;
        }
    }
};

/// Where nothing can be solved with these factors of `matrix`: they have lost too many digits, or derivatives are infinite.
template <class Model, class Lu, class Entries>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr auto cannot_solve(const Lu& lu, const Entries& matrix) {
    const auto has_grown = lu.has_grown(matrix);
    if constexpr (Model::may_be_infinite) {
        const auto is_infinite = lu.has_infinite_pivot();
        return has_grown | is_infinite;
    } else {
        return has_grown;
    }
}

/// The first row in which f, or the matrix, is not finite in one place of a Number; −1 where there is none. For reports.
template <class Matrix, class Vector, class Entries>
[[nodiscard]] EDDY_HD int infinite_row(const Vector& f, const Entries& matrix, int place) {
    const auto is_finite = [&](const auto& x) {
        const auto value = primal(get_lane(x, place));
        return value - value == 0;
    };
    int first = Matrix::size;
    for (int i = Matrix::size; i-- > 0;) {
        if (!is_finite(f[i])) first = i;
    }
    const auto look = [&](int e, int row) {
        if (row < first && !is_finite(matrix[e])) first = row;
    };
    if constexpr (!compiling_for_device) {
        for (int e = 0; e < Matrix::num_entries; ++e) look(e, Matrix::entry[e].row);
    } else {
        static_for<0, Matrix::num_entries>([&]<int e>() {
            constexpr int row = Matrix::entry[e].row;
            look(e, row);
        });
    }
    return first < Matrix::size ? first : -1;
}

/// A long step: so many operations of linear algebra that its states are not in registers anyway.
/// Eight states of chemistry by eight stages take 250, 20 states 900.
template <class Matrix, int num_stages>
inline constexpr bool is_long_step =
    !compiling_for_device &&
    SymbolicLu<Matrix>::sizes.factor + num_stages * SymbolicLu<Matrix>::sizes.solve > 400;

/// Calls body(c) for the components of a state: in loops where the step is long, which take no longer then
/// and compile in half the time.
template <int state_size, bool is_long, class Body>
EDDY_INLINE EDDY_HD constexpr void for_states(Body&& body) {
    if constexpr (is_long)
        for_components<state_size>(body);
    else
        for_components_of_sum<state_size>(body);
}

}  // namespace detail

}  // namespace eddy::inline v0
