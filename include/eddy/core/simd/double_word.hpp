#pragma once
// Numbers as unevaluated sums hi + lo: twice the digits where a function loses some.
// Algorithms and names: Dekker 1971, Numer. Math. 18, 224 (fast two-sum, splitting); Knuth, TAOCP
// 2, 4.2.2 (two-sum).
// Test: tests/core/pack_math.cpp

#include <eddy/core/pack.hpp>

namespace eddy::inline v0::simd {

template <class P>
struct DoubleWord {
    P hi, lo;
};

/// a + b exactly, for |a| ≥ |b| or a = 0.
template <class P>
EDDY_INLINE inline DoubleWord<P> fast_two_sum(const P& a, const P& b) {
    const P hi = a + b;
    return {hi, b - (hi - a)};
}

/// a + b exactly.
template <class P>
EDDY_INLINE inline DoubleWord<P> two_sum(const P& a, const P& b) {
    const P hi = a + b, b_part = hi - a;
    return {hi, (a - (hi - b_part)) + (b - b_part)};
}

/// The upper half of the digits of x: exact products of two such halves fit the type. x must be
/// below 2^990 (2^115).
template <class P>
EDDY_INLINE inline P upper_half(const P& x) {
    using Bits = BitsOf<typename P::value_type>;
    constexpr int low_bits = sizeof(Bits) == 8 ? 27 : 12;
    return from_bits(bits(x) & (~Bits{0} << low_bits));
}

/// a·b − c, exactly if the result is representable: c is a·b rounded, or near it.
template <class P>
EDDY_INLINE inline P product_minus(const P& a, const P& b, const P& c) {
    if constexpr (has_fma) {
        return fma(a, b, -c);
    } else {
        const P a_hi = upper_half(a), a_lo = a - a_hi, b_hi = upper_half(b), b_lo = b - b_hi;
        return (((a_hi * b_hi - c) + a_hi * b_lo) + a_lo * b_hi) + a_lo * b_lo;
    }
}

/// a·b exactly.
template <class P>
EDDY_INLINE inline DoubleWord<P> two_product(const P& a, const P& b) {
    const P hi = a * b;
    return {hi, product_minus(a, b, hi)};
}

/// a·b to nearly twice the digits.
template <class P>
EDDY_INLINE inline DoubleWord<P> multiply(const DoubleWord<P>& a, const DoubleWord<P>& b) {
    const auto [hi, lo] = two_product(a.hi, b.hi);
    return {hi, lo + mul_add(a.hi, b.lo, a.lo * b.hi)};
}

/// a + b to nearly twice the digits, for |a| ≥ |b| or a = 0.
template <class P>
EDDY_INLINE inline DoubleWord<P> fast_add(const DoubleWord<P>& a, const DoubleWord<P>& b) {
    const auto [hi, lo] = fast_two_sum(a.hi, b.hi);
    return {hi, lo + (a.lo + b.lo)};
}

/// a / b to nearly twice the digits, with one division. The reciprocal of b must be finite and
/// normal.
template <class P>
EDDY_INLINE inline DoubleWord<P> divide(const DoubleWord<P>& a, const DoubleWord<P>& b) {
    const P reciprocal = P(1) / b.hi, hi = a.hi * reciprocal;
    const P residual = a.lo - product_minus(hi, b.hi, a.hi);
    return {hi, mul_add(-hi, b.lo, residual) * reciprocal};
}

}  // namespace eddy::inline v0::simd
