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
    std::vector<int> place;  // (row, column): index of that entry's factor; −1: there is none
    int num_factors = 0;
    std::vector<LuStep> factor, solve, solve_transposed;

    [[nodiscard]] constexpr int at(int row, int column) const {
        return place[static_cast<std::size_t>(row * elimination.filled.size() + column)];
    }
};

namespace detail {

constexpr void number_factors(LuPlan& plan) {
    const SquarePattern& filled = plan.elimination.filled;
    for (int row = 0; row < filled.size(); ++row) {
        for (int column = 0; column < filled.size(); ++column)
            plan.place.push_back(filled.has(row, column) ? plan.num_factors++ : -1);
    }
}

/// The elimination of the k-th pivot; `is_there` says which factors have a value by then.
constexpr void plan_pivot(LuPlan& plan, int k, std::vector<char>& is_there) {
    const std::vector<int>& order = plan.elimination.order;
    const int size = static_cast<int>(order.size()), pivot = order[static_cast<std::size_t>(k)];
    const int reciprocal = plan.at(pivot, pivot);
    plan.factor.push_back({LuStep::invert, reciprocal});
    for (int i = k + 1; i < size; ++i) {
        const int row = order[static_cast<std::size_t>(i)], left = plan.at(row, pivot);
        if (left < 0) continue;
        plan.factor.push_back({LuStep::scale, left, reciprocal});
        for (int j = k + 1; j < size; ++j) {
            const int column = order[static_cast<std::size_t>(j)], above = plan.at(pivot, column);
            if (above < 0) continue;
            const int to = plan.at(row, column);
            char& has_value = is_there[static_cast<std::size_t>(to)];
            plan.factor.push_back({has_value ? LuStep::subtract : LuStep::fill, to, left, above});
            has_value = 1;
        }
    }
}

/// x ← L⁻¹ x, or with the pivots' rows and columns exchanged x ← U⁻ᵀ x, which scales.
constexpr void plan_forward(const LuPlan& plan, bool transposed, std::vector<LuStep>& steps) {
    const std::vector<int>& order = plan.elimination.order;
    for (std::size_t i = 0; i < order.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            const int place =
                transposed ? plan.at(order[k], order[i]) : plan.at(order[i], order[k]);
            if (place >= 0) steps.push_back({LuStep::subtract, order[i], place, order[k]});
        }
        if (transposed) steps.push_back({LuStep::scale, order[i], plan.at(order[i], order[i])});
    }
}

/// x ← U⁻¹ x, which scales, or x ← L⁻ᵀ x.
constexpr void plan_backward(const LuPlan& plan, bool transposed, std::vector<LuStep>& steps) {
    const std::vector<int>& order = plan.elimination.order;
    for (std::size_t i = order.size(); i-- > 0;) {
        for (std::size_t k = order.size(); k-- > i + 1;) {
            const int place =
                transposed ? plan.at(order[k], order[i]) : plan.at(order[i], order[k]);
            if (place >= 0) steps.push_back({LuStep::subtract, order[i], place, order[k]});
        }
        if (!transposed) steps.push_back({LuStep::scale, order[i], plan.at(order[i], order[i])});
    }
}

}  // namespace detail

/// The plan for matrices of this pattern; the diagonal becomes a part of it.
[[nodiscard]] constexpr LuPlan plan_lu(SquarePattern pattern) {
    for (int i = 0; i < pattern.size(); ++i) pattern.insert(i, i);
    LuPlan plan{eliminate(pattern), {}, 0, {}, {}, {}};
    detail::number_factors(plan);
    std::vector<char> is_there(static_cast<std::size_t>(plan.num_factors), 0);
    for (const MatrixEntry& entry : pattern.entries())
        is_there[static_cast<std::size_t>(plan.at(entry.row, entry.column))] = 1;
    for (int k = 0; k < pattern.size(); ++k) detail::plan_pivot(plan, k, is_there);
    detail::plan_forward(plan, false, plan.solve);
    detail::plan_backward(plan, false, plan.solve);
    detail::plan_forward(plan, true, plan.solve_transposed);
    detail::plan_backward(plan, true, plan.solve_transposed);
    return plan;
}

}  // namespace eddy::inline v0
