#pragma once
// A small dense linear system, A x = b or Aᵀ x = b, by elimination with row exchanges. The rows are
// exchanged by masks, so that each lane of a pack has the exchanges, and the bits, that it has alone.
// Test: tests/ad/root.cpp

#include <eddy/core/lanes.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/core/static_for.hpp>
#include <eddy/trace/apply.hpp>
#include <eddy/trace/tables.hpp>

namespace eddy::inline v0::detail {

/// The longest unknown of such a system.
inline constexpr int longest_solved = 8;

/// Replaces b by the solution. A, row-major, is overwritten. A singular matrix gives no finite numbers.
template <int n, class Real>
EDDY_INLINE EDDY_HD constexpr void solve_linear(Real* a, Real* b) {
    static_for<0, n>([&]<int k>() EDDY_INLINE {
        static_for<k + 1, n>([&]<int i>() EDDY_INLINE {  // the largest pivot comes to row k
            const auto is_larger =
                apply<Op::less>(apply<Op::abs>(a[k * n + k]), apply<Op::abs>(a[i * n + k]));
            const auto exchange = [&](Real& x, Real& y) EDDY_INLINE {
                const Real kept = x;
                x = select(is_larger, y, x);
                y = select(is_larger, kept, y);
            };
            static_for<k, n>([&]<int j>() EDDY_INLINE { exchange(a[k * n + j], a[i * n + j]); });
            exchange(b[k], b[i]);
        });
        static_for<k + 1, n>([&]<int i>() EDDY_INLINE {
            const Real factor = -(a[i * n + k] / a[k * n + k]);
            static_for<k + 1, n>([&]<int j>() EDDY_INLINE {
                a[i * n + j] = mul_add(factor, a[k * n + j], a[i * n + j]);
            });
            b[i] = mul_add(factor, b[k], b[i]);
        });
    });
    static_for<0, n>([&]<int from_last>() EDDY_INLINE {
        constexpr int i = n - 1 - from_last;
        static_for<i + 1, n>([&]<int j>()
                                 EDDY_INLINE { b[i] = mul_add(-a[i * n + j], b[j], b[i]); });
        b[i] = b[i] / a[i * n + i];
    });
}

/// The same where the entries are read by load_a(row, column) and load_b(row), and the solution is
/// handed to store(row, x).
template <int n, class Real, class LoadA, class LoadB, class Store>
EDDY_INLINE EDDY_HD constexpr void solve_linear(LoadA load_a, LoadB load_b, Store store) {
    Real a[n * n], b[n];
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) a[i * n + j] = convert<Real>(load_a(i, j));
        b[i] = convert<Real>(load_b(i));
    }
    solve_linear<n>(a, b);
    for (int i = 0; i < n; ++i) store(i, b[i]);
}

/// The same of a size that is known at run time only: entry k of A and b, and x.
template <int n, class LoadA, class LoadB, class Real>
void solve_linear_of_size(int size, LoadA load_a, LoadB load_b, Real* x, bool transposed) {
    if constexpr (n <= longest_solved) {
        if (size != n) return solve_linear_of_size<n + 1>(size, load_a, load_b, x, transposed);
        solve_linear<n, Real>(
            [&](int i, int j) { return load_a(transposed ? j * n + i : i * n + j); }, load_b,
            [&](int i, const Real& value) { x[i] = value; });
    }
}

}  // namespace eddy::inline v0::detail
