#pragma once
// LU factors of a sparse matrix whose pattern is known when it is compiled, without pivoting: a run of
// single operations on numbers in registers, the same in every place of a pack and in every thread of
// a warp. For numbers of any kind, on host and device.
//
// What pivoting guards against is growth: a pivot much larger than the matrix's own diagonal entry,
// whose digits then are lost in the sum. `has_grown` looks for it. Whatever the scales of the unknowns,
// the ratio of the two is the same, and it sees growth along every cycle of couplings, for each ends in
// a pivot; entries that are on no cycle do no harm. A pivot that nearly vanishes is none of its
// business: it does so for every matrix I/(γh) − J with long steps where something is conserved.
// Test: tests/linalg/sparse_lu.cpp

#include <eddy/core/lanes.hpp>
#include <eddy/core/vec.hpp>
#include <eddy/linalg/symbolic_lu.hpp>
#include <limits>

namespace eddy::inline v0 {

namespace detail {

/// In operations. Of 94, in packs of eight doubles, a step of six solves takes 5 % longer when they are called, and its
/// gradient 7 % less.
inline constexpr int longest_solve_inline = 64;

}  // namespace detail

/// The factors of a matrix of `Structure`.
template <MatrixStructure Structure, class Number>
struct SparseLu {
    using Symbolic = SymbolicLu<Structure>;
    static constexpr int size = Symbolic::size;
    using Vector = Vec<Number, size>;
    /// Values of a matrix, in the order of Structure::pattern.
    using Entries = Vec<Number, Symbolic::num_entries>;

    /// L below the diagonal, U above, and the reciprocals of U's diagonal.
    Vec<Number, Symbolic::sizes.factors> factors;

    /// A pivot of zero makes solutions infinite or NaN.
    EDDY_INLINE EDDY_HD constexpr void factor(const Entries& entries) {
        if constexpr (is_listed) {
            for (int e = 0; e < Symbolic::num_entries; ++e)
                factors.data[Symbolic::plan.factor_of[e]] = entries.data[e];
            for (const LuStep& step : Symbolic::plan.factor) take_of_factor(step);
        } else {
            static_for<0, Symbolic::num_entries>([&]<int e>() EDDY_INLINE {
                constexpr int to = Symbolic::plan.factor_of[e];
                factors.data[to] = entries.data[e];
            });
            static_for<0, Symbolic::sizes.factor>([&]<int i>() EDDY_INLINE {
                constexpr LuStep step = Symbolic::plan.factor[i];
                take_of_factor(step);
            });
        }
    }

    /// x with A x = b.
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr Vector solve(const Vector& b) const {
        Vector x = b;
        solve_in_place(x);
        return x;
    }
    /// b becomes the x with A x = b. It may be of richer numbers: packs beside a plain matrix.
    template <class Any>
    EDDY_INLINE EDDY_HD constexpr void solve_in_place(Vec<Any, size>& b) const {
        if constexpr (is_called)
            solve_out_of_line<false>(b);
        else
            solve_here<false>(b);
    }
    /// x with Aᵀ x = b.
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr Vector solve_transposed(const Vector& b) const {
        Vector x = b;
        solve_transposed_in_place(x);
        return x;
    }
    /// b becomes the x with Aᵀ x = b.
    EDDY_INLINE EDDY_HD constexpr void solve_transposed_in_place(Vector& b) const {
        if constexpr (is_called)
            solve_out_of_line<true>(b);
        else
            solve_here<true>(b);
    }

    /// Where, given the matrix that was factored, some pivot is larger than its diagonal entry by more
    /// than the reciprocal of the rounding unit: half the digits of a solution may be lost.
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr MaskOf<Number> has_grown(
        const Entries& entries) const {
        return smallest_ratio(entries) < Number(std::numeric_limits<ScalarOf<Number>>::epsilon());
    }
    /// Where some pivot is infinite: there a solution is zero, whatever it is that is solved for.
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr MaskOf<Number> has_infinite_pivot() const {
        Number smallest(1);
        for_pivots([&](const Pivot& pivot)
                       EDDY_INLINE { smallest = min(smallest, abs(factors.data[pivot.factor])); });
        return smallest <= Number(0);
    }
    /// The row of the first pivot that is zero or has grown in one place of a Number; −1 where there is
    /// none, and where the matrix is not finite itself. For reports.
    [[nodiscard]] EDDY_HD int failed_pivot(const Entries& entries, int place) const {
        constexpr auto epsilon = std::numeric_limits<ScalarOf<Number>>::epsilon();
        for (int e = 0; e < Symbolic::num_entries; ++e) {
            const auto entry = get_lane(entries[e], place);
            if (!(entry - entry == 0)) return -1;
        }
        int failed = -1;
        for_pivots([&](const Pivot& pivot) {
            const auto reciprocal = get_lane(factors[pivot.factor], place);
            const auto ratio = abs(get_lane(entries[pivot.entry], place) * reciprocal);
            const bool is_finite = reciprocal - reciprocal == 0;
            if (failed < 0 && (!is_finite || (!pivot.is_plain && ratio < epsilon)))
                failed = pivot.row;
        });
        return failed;
    }
    /// The smallest |diagonal entry / pivot|, at most 1.
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr Number smallest_ratio(
        const Entries& entries) const {
        Number smallest(1);
        for_pivots([&](const Pivot& pivot) EDDY_INLINE {
            if (!pivot.is_plain)
                smallest =
                    min(smallest, abs(entries.data[pivot.entry] * factors.data[pivot.factor]));
        });
        return smallest;
    }

  private:
    static constexpr bool is_listed = detail::is_listed_lu<Structure>;
    using Pivot = detail::LuPivot;
    /// Calls body(pivot) for all pivots in their order.
    template <class Body>
    EDDY_INLINE EDDY_HD static constexpr void for_pivots(const Body& body) {
        if constexpr (is_listed) {
            for (const Pivot& pivot : Symbolic::plan.pivots) body(pivot);
        } else {
            static_for<0, size>([&]<int k>() EDDY_INLINE {
                constexpr Pivot pivot = Symbolic::plan.pivots[k];
                body(pivot);
            });
        }
    }
    EDDY_INLINE EDDY_HD constexpr void take_of_factor(const LuStep& step) {
        Number& to = factors.data[step.to];
        if (step.kind == LuStep::invert)
            to = Number(1) / to;
        else if (step.kind == LuStep::scale)
            to = to * factors.data[step.a];
        else if (step.kind == LuStep::subtract)
            to = mul_add(-factors.data[step.a], factors.data[step.b], to);
        else
            to = -factors.data[step.a] * factors.data[step.b];
    }

    /// A long solve is one text for all who need it: a step takes one for each stage, and steps are taken
    /// forward, once more and back.
    static constexpr bool is_called =
        !compiling_for_device && Symbolic::sizes.solve > detail::longest_solve_inline;

    template <bool transposed, class Any>
    [[gnu::noinline]] EDDY_HD constexpr void solve_out_of_line(Vec<Any, size>& b) const {
        Vec<Any, size> x;  // that `factors` do not lie in: what is summed need not be stored
        for_components_of_sum<size>([&](int i) EDDY_INLINE { x.data[i] = b.data[i]; });
        solve_here<transposed>(x);
        for_components_of_sum<size>([&](int i) EDDY_INLINE { b.data[i] = x.data[i]; });
    }
    template <bool transposed, class Any>
    EDDY_INLINE EDDY_HD constexpr void solve_here(Vec<Any, size>& b) const {
        if constexpr (is_listed) {
            for (const LuStep& step :
                 transposed ? Symbolic::plan.solve_transposed : Symbolic::plan.solve)
                take_of_solve(step, b);
        } else {
            static_for<0, Symbolic::sizes.solve>([&]<int i>() EDDY_INLINE {
                constexpr LuStep step =
                    transposed ? Symbolic::plan.solve_transposed[i] : Symbolic::plan.solve[i];
                take_of_solve(step, b);
            });
        }
    }
    template <class Any>
    EDDY_INLINE EDDY_HD constexpr void take_of_solve(const LuStep& step, Vec<Any, size>& x) const {
        Any& to = x.data[step.to];
        if (step.kind == LuStep::scale)
            to = to * factors.data[step.a];
        else
            to = mul_add(-factors.data[step.a], x.data[step.b], to);
    }
};

}  // namespace eddy::inline v0
