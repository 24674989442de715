#pragma once
// Polynomials whose coefficients are a table of coefficients.hpp.
// Test: tests/core/pack_math.cpp

#include <eddy/core/pack.hpp>
#include <iterator>

namespace eddy::inline v0::simd {

/// Σ c[i]·x^i, by Horner's rule.
template <class Table, int first = 0, class P>
EDDY_INLINE inline P horner(const P& x) {
    constexpr int degree = static_cast<int>(std::size(Table::coefficients)) - 1;
    if constexpr (first == degree)
        return P(Table::coefficients[degree]);
    else
        return mul_add(horner<Table, first + 1>(x), x, P(Table::coefficients[first]));
}

/// The terms of even index of a table, or of odd index, as a polynomial in x².
template <class Table, int first, class P>
EDDY_INLINE inline P every_other(const P& square) {
    constexpr int degree = static_cast<int>(std::size(Table::coefficients)) - 1;
    if constexpr (first + 2 > degree)
        return P(Table::coefficients[first]);
    else
        return mul_add(every_other<Table, first + 2>(square), square,
                       P(Table::coefficients[first]));
}

/// Σ c[i]·x^i, even and odd terms apart: one product more than Horner's rule for half its latency.
template <class Table, class P>
EDDY_INLINE inline P polynomial(const P& x) {
    if constexpr (std::size(Table::coefficients) < 6) {
        return horner<Table>(x);
    } else {
        const P square = x * x;
        return mul_add(every_other<Table, 1>(square), x, every_other<Table, 0>(square));
    }
}

}  // namespace eddy::inline v0::simd
