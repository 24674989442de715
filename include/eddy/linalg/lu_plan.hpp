#pragma once
// The arithmetic of a sparse LU factorisation without pivoting, and of the solves with its factors, as
// lists of single operations. A plan follows from a pattern alone. L has a unit diagonal and is left
// out; of the diagonal of U the reciprocals are kept, so that only the factorisation divides:
//
//   A = L U,   x ← L⁻¹ b,   x ← U⁻¹ x;   with the transpose   x ← U⁻ᵀ b,   x ← L⁻ᵀ x.
//
// All sums run in one order, the newest operand last, for the longest chain of operations to be short.
// Test: tests/linalg/lu_plan.cpp

#include <eddy/linalg/elimination_order.hpp>

namespace eddy::inline v0 {

/// One operation of a plan. `f` are the factors, `x` the right-hand side that becomes the solution.
struct LuStep {
    enum Kind : char {
        invert,    // f[to] = 1 / f[to]
        scale,     // f[to] = f[to] · f[a];         of a solve: x[to] = x[to] · f[a]
        subtract,  // f[to] = f[to] − f[a] · f[b];  of a solve: x[to] = x[to] − f[a] · x[b]
        fill,      // f[to] = −f[a] · f[b]: what a subtraction leaves where there was nothing
    };
    Kind kind = invert;
    int to = 0;
    int a = 0;
    int b = 0;
};

/// What to do with a matrix of one pattern.
struct LuPlan {
    Elimination elimination;
    List<int> first;  // (row): the factor of its first entry; then how many there are
    int num_factors = 0;
    List<LuStep> factor, solve, solve_transposed;

    /// The factor of an entry; −1: there is none.
    [[nodiscard]] constexpr int at(int row, int column) const {
        const List<int>& columns = elimination.filled.row(row);
        const auto found = std::lower_bound(columns.begin(), columns.end(), column);
        if (found == columns.end() || *found != column) return -1;
        return first[static_cast<std::size_t>(row)] + static_cast<int>(found - columns.begin());
    }
};

namespace detail {

/// Factors of one row or column in the order of elimination: the k-th unknown's, and where it is kept.
struct FactorInLine {
    int k = 0;
    int place = 0;
};
using LineOfFactors = List<FactorInLine>;

/// The rows and columns of the factors with the unknowns in the order of elimination.
struct OrderedFactors {
    List<LineOfFactors> rows, columns;

    constexpr explicit OrderedFactors(const LuPlan& plan)
        : rows(plan.elimination.order.size()), columns(rows.size()) {
        const List<int>& order = plan.elimination.order;
        List<int> number(order.size(), 0);  // (unknown)
        for (std::size_t k = 0; k < order.size(); ++k) number[at(order[k])] = static_cast<int>(k);
        for (std::size_t k = 0; k < order.size(); ++k) {
            int place = plan.first[at(order[k])];
            for (const int column : plan.elimination.filled.row(order[k]))
                columns[at(number[at(column)])].push_back({static_cast<int>(k), place++});
        }
        for (std::size_t k = 0; k < order.size(); ++k) {
            for (const FactorInLine& factor : columns[k])
                rows[at(factor.k)].push_back({static_cast<int>(k), factor.place});
        }
    }
    static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
    [[nodiscard]] constexpr int diagonal(std::size_t k) const {
        std::size_t i = 0;
        while (rows[k][i].k != static_cast<int>(k)) ++i;
        return rows[k][i].place;
    }
};

constexpr void number_factors(LuPlan& plan) {
    const SquarePattern& filled = plan.elimination.filled;
    for (int row = 0; row < filled.size(); ++row) {
        plan.first.push_back(plan.num_factors);
        plan.num_factors += static_cast<int>(filled.row(row).size());
    }
}

/// The elimination of the k-th pivot; `is_there` says which factors have a value by then.
constexpr void plan_pivot(LuPlan& plan, const OrderedFactors& factors, std::size_t k,
                          List<char>& is_there) {
    const int pivot = static_cast<int>(k), reciprocal = factors.diagonal(k);
    plan.factor.push_back({LuStep::invert, reciprocal});
    for (const FactorInLine& left : factors.columns[k]) {
        if (left.k <= pivot) continue;
        plan.factor.push_back({LuStep::scale, left.place, reciprocal});
        auto to = factors.rows[static_cast<std::size_t>(left.k)].begin();
        for (const FactorInLine& above : factors.rows[k]) {
            if (above.k <= pivot) continue;
            while (to->k < above.k) ++to;
            char& has_value = is_there[static_cast<std::size_t>(to->place)];
            plan.factor.push_back(
                {has_value ? LuStep::subtract : LuStep::fill, to->place, left.place, above.place});
            has_value = 1;
        }
    }
}

/// x ← L⁻¹ x, x ← U⁻¹ x; or, with columns in the place of rows, x ← U⁻ᵀ x, x ← L⁻ᵀ x. U scales.
constexpr List<LuStep> plan_solve(const List<int>& order, const List<LineOfFactors>& lines,
                                  bool scales_first) {
    List<LuStep> steps;
    std::size_t num_steps = 0;
    for (const LineOfFactors& line : lines) num_steps += line.size();
    steps.reserve(num_steps);
    const auto subtract = [&](std::size_t i, const FactorInLine& factor) {
        steps.push_back(
            {LuStep::subtract, order[i], factor.place, order[static_cast<std::size_t>(factor.k)]});
    };
    for (std::size_t i = 0; i < order.size(); ++i) {
        std::size_t f = 0;
        for (; lines[i][f].k < static_cast<int>(i); ++f) subtract(i, lines[i][f]);
        if (scales_first) steps.push_back({LuStep::scale, order[i], lines[i][f].place});
    }
    for (std::size_t i = order.size(); i-- > 0;) {
        std::size_t f = lines[i].size();
        for (; lines[i][f - 1].k > static_cast<int>(i); --f) subtract(i, lines[i][f - 1]);
        if (!scales_first) steps.push_back({LuStep::scale, order[i], lines[i][f - 1].place});
    }
    return steps;
}

}  // namespace detail

/// The plan for matrices of this pattern; the diagonal becomes a part of it.
[[nodiscard]] constexpr LuPlan plan_lu(SquarePattern pattern) {
    for (int i = 0; i < pattern.size(); ++i) pattern.insert(i, i);
    LuPlan plan{eliminate(pattern), {}, 0, {}, {}, {}};
    detail::number_factors(plan);
    List<char> is_there(static_cast<std::size_t>(plan.num_factors), 0);
    for (int row = 0; row < pattern.size(); ++row) {
        const List<int>& filled = plan.elimination.filled.row(row);
        std::size_t k = 0;
        for (const int column : pattern.row(row)) {
            while (filled[k] != column) ++k;
            is_there[static_cast<std::size_t>(plan.first[static_cast<std::size_t>(row)]) + k] = 1;
        }
    }
    const detail::OrderedFactors factors(plan);
    plan.factor.reserve(static_cast<std::size_t>(plan.elimination.num_steps));
    for (std::size_t k = 0; k < factors.rows.size(); ++k)
        detail::plan_pivot(plan, factors, k, is_there);
    plan.solve = detail::plan_solve(plan.elimination.order, factors.rows, false);
    plan.solve_transposed = detail::plan_solve(plan.elimination.order, factors.columns, true);
    return plan;
}

}  // namespace eddy::inline v0
