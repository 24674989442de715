#pragma once
// sin, cos and tan: reduction to |r| ≤ π/4, the series of both functions there, and a choice by
// quadrant. All three are computed for |x| and take the sign of x at the end, so that −0 stays −0.
// Test: tests/core/pack_math.cpp

#include <eddy/core/simd/coefficients.hpp>
#include <eddy/core/simd/polynomial.hpp>
#include <eddy/core/simd/trig_reduction.hpp>

namespace eddy::inline v0::simd {

/// sin r and cos r for r = hi + lo, |r| ≤ π/4, each as hi + lo.
template <class P>
EDDY_INLINE inline DoubleWord<P> sin_series(const P& hi, const P& lo) {
    using Real = typename P::value_type;
    const P z = hi * hi;
    return fast_two_sum(hi, mul_add(hi * z, polynomial<SinTail<Real>>(z), lo));
}
template <class P>
EDDY_INLINE inline DoubleWord<P> cos_series(const P& hi, const P& lo) {
    using Real = typename P::value_type;
    const P z = hi * hi, half_z = P(Real(0.5)) * z;
    const auto [one, rest] = fast_two_sum(P(1), -half_z);
    const P tail = mul_add(z * z, polynomial<CosTail<Real>>(z), -(hi * lo));
    return fast_two_sum(one, rest + tail);
}

/// `value` for finite x; x − x, which is NaN, for infinities and NaN.
template <class P>
EDDY_INLINE inline P finite_only(const P& magnitude, const P& value) {
    const P largest(std::numeric_limits<typename P::value_type>::max());
    return select(magnitude <= largest, value, magnitude - magnitude);
}

/// sin |x| advanced by `quarters` quarter turns, without its lower half.
template <int quarters, class P>
EDDY_INLINE inline P sine_of(const P& magnitude) {
    constexpr int sign_shift = static_cast<int>(sizeof(typename P::value_type)) * 8 - 2;
    const auto r = reduce(magnitude);
    const auto quadrant = integer_bits(r.quadrant + P(quarters));
    const auto odd = (quadrant & 1) != 0;
    const P value = select(odd, cos_series(r.hi, r.lo).hi, sin_series(r.hi, r.lo).hi);
    return finite_only(magnitude, flip_sign(value, from_bits(quadrant << sign_shift)));
}

template <class P>
EDDY_INLINE inline P sin_kernel(const P& x) {
    return flip_sign(sine_of<0>(abs(x)), x);
}

template <class P>
EDDY_INLINE inline P cos_kernel(const P& x) {
    return sine_of<1>(abs(x));
}

/// The quotient of the two series with its remainder: one rounding at the end instead of three.
template <class P>
EDDY_INLINE inline P tan_kernel(const P& x) {
    const P magnitude = abs(x);
    const auto r = reduce(magnitude);
    const auto odd = (integer_bits(r.quadrant) & 1) != 0;
    const auto sine = sin_series(r.hi, r.lo), cosine = cos_series(r.hi, r.lo);
    const DoubleWord<P> above{select(odd, -cosine.hi, sine.hi), select(odd, -cosine.lo, sine.lo)};
    const DoubleWord<P> below{select(odd, sine.hi, cosine.hi), select(odd, sine.lo, cosine.lo)};
    const auto quotient = divide(above, below);
    return flip_sign(finite_only(magnitude, quotient.hi + quotient.lo), x);
}

}  // namespace eddy::inline v0::simd
