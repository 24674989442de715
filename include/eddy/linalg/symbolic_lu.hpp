#pragma once
// The plan of an LU factorisation as a compile-time constant.
// Test: tests/linalg/sparse_lu.cpp

#include <concepts>
#include <eddy/core/host_device.hpp>
#include <eddy/linalg/lu_plan.hpp>

namespace eddy::inline v0 {

/// A type that says where the matrices that it stands for may be non-zero: `size` rows and columns, and
/// `pattern`, `num_entries` distinct entries that hold all of the diagonal.
template <class Structure>
concept MatrixStructure = requires {
    { Structure::size } -> std::convertible_to<int>;
    { Structure::num_entries } -> std::convertible_to<int>;
    { Structure::pattern[0].row } -> std::convertible_to<int>;
    { Structure::pattern[0].column } -> std::convertible_to<int>;
};

namespace detail {

/// How many operations are written out one by one: a dense matrix of 20 rows has 2,700 in its
/// factorisation. More would take minutes to compile, and more registers than there are.
inline constexpr int most_lu_steps = 6000;

template <MatrixStructure Structure>
constexpr SquarePattern pattern_of() {
    SquarePattern pattern(Structure::size);
    for (int e = 0; e < Structure::num_entries; ++e)
        pattern.insert(Structure::pattern[e].row, Structure::pattern[e].column);
    return pattern;
}

struct LuSizes {
    int factors = 0, factor = 0, solve = 0;
    bool has_diagonal = false;  // all of it, and no entry twice
};

/// Where a pivot is.
struct LuPivot {
    int row = 0;
    int entry = 0;         // of the structure, on the diagonal of that row
    int factor = 0;        // which becomes the reciprocal of the pivot
    bool is_plain = true;  // the entry itself: nothing is subtracted from it
};

/// A plan in built-in arrays.
template <int size, int entries, LuSizes sizes>
struct FrozenLuPlan {
    LuPivot pivots[size];  // in the order of elimination
    int factor_of[entries];
    LuStep factor[sizes.factor];
    LuStep solve[sizes.solve];
    LuStep solve_transposed[sizes.solve];
};

template <MatrixStructure Structure>
constexpr LuSizes lu_sizes() {
    const SquarePattern pattern = pattern_of<Structure>();
    for (int i = 0; i < Structure::size; ++i) {
        if (!pattern.has(i, i)) return {};
    }
    if (pattern.num_entries() != Structure::num_entries) return {};
    const Elimination elimination = eliminate(pattern);
    const int factors = elimination.filled.num_entries();
    return {factors, elimination.num_steps, factors, true};  // a solve reads each factor once
}
template <MatrixStructure Structure>
inline constexpr LuSizes lu_sizes_of = lu_sizes<Structure>();
template <MatrixStructure Structure>
inline constexpr bool may_be_written_out = lu_sizes_of<Structure>.factor <= most_lu_steps;

/// Solves of more operations are done from the plan's lists, one after another: what they read is in memory anyway, and
/// a compiler would take its time for each.
inline constexpr int longest_lu_written_out = 512;
template <MatrixStructure Structure>
inline constexpr bool is_listed_lu =
    !compiling_for_device && longest_lu_written_out < lu_sizes_of<Structure>.solve;

template <MatrixStructure Structure, LuSizes sizes>
constexpr auto freeze_lu_plan() {
    constexpr int size = Structure::size;
    const LuPlan plan = plan_lu(pattern_of<Structure>());
    FrozenLuPlan<size, Structure::num_entries, sizes> frozen{};
    List<int> pivot_of(static_cast<std::size_t>(sizes.factors), -1);  // (factor)
    List<int> entry_of(pivot_of);
    for (int e = 0; e < Structure::num_entries; ++e) {
        const auto& entry = Structure::pattern[e];
        frozen.factor_of[e] = plan.at(entry.row, entry.column);
        entry_of[static_cast<std::size_t>(frozen.factor_of[e])] = e;
    }
    for (int k = 0; k < size; ++k) {
        const int row = plan.elimination.order[static_cast<std::size_t>(k)],
                  factor = plan.at(row, row);
        frozen.pivots[k] = {row, entry_of[static_cast<std::size_t>(factor)], factor};
        pivot_of[static_cast<std::size_t>(factor)] = k;
    }
    for (std::size_t i = 0; i < plan.factor.size(); ++i) {
        const LuStep& step = plan.factor[i];
        frozen.factor[i] = step;
        const int pivot = pivot_of[static_cast<std::size_t>(step.to)];
        if (step.kind == LuStep::subtract && pivot >= 0) frozen.pivots[pivot].is_plain = false;
    }
    for (std::size_t i = 0; i < plan.solve.size(); ++i) {
        frozen.solve[i] = plan.solve[i];
        frozen.solve_transposed[i] = plan.solve_transposed[i];
    }
    return frozen;
}

}  // namespace detail

/// All that is known of an LU factorisation before there are numbers.
template <MatrixStructure Structure>
struct SymbolicLu {
    static_assert(detail::lu_sizes_of<Structure>.has_diagonal,
                  "linalg: the pattern of a matrix must hold each entry once, and the whole "
                  "diagonal");
    static constexpr int size = Structure::size;
    static constexpr int num_entries = Structure::num_entries;
    static constexpr detail::LuSizes sizes = detail::lu_sizes_of<Structure>;
    static_assert(detail::may_be_written_out<Structure>,
                  "linalg: the factorisation of this matrix is too long to be written out; use "
                  "fewer states, or equations that are coupled more sparsely");
    static constexpr auto plan = detail::freeze_lu_plan<Structure, sizes>();
};

}  // namespace eddy::inline v0
