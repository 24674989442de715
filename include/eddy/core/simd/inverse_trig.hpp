#pragma once
// asin, acos, atan, atan2. Beyond 1/2, asin x = π/2 − 2·asin √((1−x)/2); beyond tan(π/8), atan of a
// quotient is π/4 plus atan of (n − d)/(n + d). The root and the quotient keep their rounding
// error, since both arrive in the result.
// Test: tests/core/pack_math.cpp

#include <eddy/core/simd/coefficients.hpp>
#include <eddy/core/simd/double_word.hpp>
#include <eddy/core/simd/format.hpp>
#include <eddy/core/simd/polynomial.hpp>

namespace eddy::inline v0::simd {

/// root·(1 + tail/root) = asin of |x| where |x| ≤ 1/2, half of acos |x| beyond.
template <class P>
struct ArcSine {
    P root, tail;
    Mask<typename P::value_type, P::size> large;
};
template <class P>
EDDY_INLINE inline ArcSine<P> arc_sine(const P& magnitude) {
    using Real = typename P::value_type;
    const P half(Real(0.5));
    const auto large = magnitude > half;
    const P z = select(large, (P(1) - magnitude) * half, magnitude * magnitude);
    const P root = select(large, sqrt(z), magnitude);
    const P error =
        product_minus(root, root, z) / max(root + root, P(Format<Real>::smallest_normal));
    const P tail = root * (z * polynomial<AsinTail<Real>>(z));
    return {root, select(large, tail - error, tail), large};
}

/// m·π/4 − (root + tail), for m with exact multiples of Format::pi_4_hi.
template <class P>
EDDY_INLINE inline P eighths_minus(const P& m, const P& root, const P& tail) {
    using F = FormatOf<P>;
    const auto [hi, lo] = fast_two_sum(m * P(F::pi_4_hi), -root);
    return hi + (lo + mul_add(m, P(F::pi_4_lo), -tail));
}

template <class P>
EDDY_INLINE inline P asin_kernel(const P& x) {
    const auto arc = arc_sine(abs(x));
    const P beyond = eighths_minus(P(2), arc.root + arc.root, arc.tail + arc.tail);
    return copysign(select(arc.large, beyond, arc.root + arc.tail), x);
}

/// π/2 − asin x, 2·asin √((1−x)/2), or π less that.
template <class P>
EDDY_INLINE inline P acos_kernel(const P& x) {
    const auto arc = arc_sine(abs(x));
    const auto negative = x < P(0);
    const P factor = select(arc.large, P(2), P(1)), root = arc.root * factor,
            tail = arc.tail * factor;
    const P m = select(arc.large, P(4), P(2));
    const P flip = select(arc.large | !negative, P(1), P(-1));
    const P from_pi = eighths_minus(m, flip * root, flip * tail);
    return select(arc.large & !negative, root + tail, from_pi);
}

/// m·π/4 + sign·atan(n/d) for 0 ≤ n ≤ d, d normal, with m from 0 to 4 and sign ±1.
template <class P>
EDDY_INLINE inline P arc_tangent(const P& n, const P& d, const P& m, const P& sign) {
    using Real = typename P::value_type;
    constexpr Real tan_pi_8 = Real(0x1.a827999fcef32p-2);
    constexpr Real tiny = sizeof(Real) == 8 ? Real(0x1p-900) : Real(0x1p-80f);
    const auto far = n > P(tan_pi_8) * d;
    const auto difference = two_sum(n, -d), total = two_sum(d, n);
    const DoubleWord<P> above{select(far, difference.hi, n), select(far, difference.lo, P(0))};
    const DoubleWord<P> below{select(far, total.hi, d), select(far, total.lo, P(0))};
    const auto [t, t_error] = divide(above, below);
    const P z = t * t;
    // Below `tiny` the remainder is lost to underflow, and does not matter.
    const P t_lo = select(n < P(tiny), P(0), t_error * (P(1) - z));
    const P tail = mul_add(t * z, polynomial<AtanTail<Real>>(z), t_lo);
    const P eighths = mul_add(sign, select(far, P(1), P(0)), m);
    const auto [hi, lo] = fast_two_sum(eighths * P(Format<Real>::pi_4_hi), sign * t);
    return hi + (lo + mul_add(eighths, P(Format<Real>::pi_4_lo), sign * tail));
}

template <class P>
EDDY_INLINE inline P atan_kernel(const P& x) {
    const P magnitude = min(abs(x), P(0x1p100f));  // from there on the result is π/2
    const auto steep = magnitude > P(1);
    const P angle = arc_tangent(select(steep, P(1), magnitude), select(steep, magnitude, P(1)),
                                select(steep, P(2), P(0)), select(steep, P(-1), P(1)));
    return copysign(angle, x);
}

/// The angle of (x, y): that of min/max of the magnitudes, reflected into the octant.
template <class P>
EDDY_INLINE inline P atan2_kernel(const P& y, const P& x) {
    using Real = typename P::value_type;
    constexpr Real huge = sizeof(Real) == 8 ? Real(0x1p500) : Real(0x1p60f);
    constexpr Real infinity = std::numeric_limits<Real>::infinity();
    const P abs_x = abs(x), abs_y = abs(y);
    const auto steep = abs_y > abs_x;
    P n = select(steep, abs_x, abs_y), d = select(steep, abs_y, abs_x);
    // Two infinities count as equal, one as infinitely far; two zeros lie on the axis.
    n = select(d == P(infinity), select(n == d, P(1), P(0)), n);
    d = select((d == P(infinity)) | (d == P(0)), P(1), d);
    const P factor = select(d > P(huge), P(1 / huge), select(d < P(1 / huge), P(huge), P(1)));
    const auto left = copysign(P(1), x) < P(0);
    const P m = select(steep, P(2), select(left, P(4), P(0)));
    const P sign = select(steep ^ left, P(-1), P(1));
    const P angle = arc_tangent(n * factor, d * factor, m, sign);
    return copysign(select((x == x) & (y == y), angle, x + y), y);
}

}  // namespace eddy::inline v0::simd
