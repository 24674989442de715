#pragma once
// Real powers and cube roots. x^y = e^(y·log x), so the logarithm is wanted to 65 bits: the log.hpp
// series with its argument and first two terms as hi + lo. Floats are raised as doubles, where
// plain log and exp are enough.
// Test: tests/core/pack_math.cpp

#include <eddy/core/simd/exp.hpp>
#include <eddy/core/simd/log.hpp>

namespace eddy::inline v0::simd {

/// log x to about 65 bits, for positive finite x.
template <int lanes>
EDDY_INLINE inline DoubleWord<Pack<double, lanes>> long_log(const Pack<double, lanes>& x) {
    using P = Pack<double, lanes>;
    using F = Format<double>;
    const auto [k, m] = decompose(x);
    const auto s = divide(DoubleWord<P>{m - P(1), P(0)}, two_sum(m, P(1)));
    const auto z = multiply(s, s);
    // log m = 2s + s·z·(2/3 + z·tail)
    const P tail = z.hi * polynomial<LogLongTail<double>>(z.hi);
    const auto series = fast_add(DoubleWord<P>{P(0x1.5555555555555p-1), P(0x1.5555555555555p-55)},
                                 DoubleWord<P>{tail, P(0)});
    const auto small = multiply(multiply(s, z), series);
    const auto log_m = fast_add(DoubleWord<P>{s.hi + s.hi, s.lo + s.lo}, small);
    const auto log_x = fast_add(DoubleWord<P>{k * P(F::ln2_hi), k * P(F::ln2_lo)}, log_m);
    return fast_two_sum(log_x.hi, log_x.lo);
}

// Beyond, a power is 0, 1 or infinite; confined, 0·∞ does not arise.
inline constexpr double largest_exponent = 0x1p66;

/// e^(y·log x) for positive finite x.
template <int lanes>
EDDY_INLINE inline Pack<double, lanes> positive_power(const Pack<double, lanes>& x,
                                                      const Pack<double, lanes>& y) {
    using P = Pack<double, lanes>;
    const P exponent = confine(y, -largest_exponent, largest_exponent);
    const auto log_x = long_log(x);
    const auto [hi, lo] = two_product(exponent, log_x.hi);
    return long_exp(hi, mul_add(exponent, log_x.lo, lo));
}

/// The same for floats, whose powers plain double arithmetic gives to the last bit but one in a
/// hundred million.
template <int lanes>
EDDY_INLINE inline Pack<float, lanes> positive_power(const Pack<float, lanes>& x,
                                                     const Pack<float, lanes>& y) {
    using Wide = Pack<double, lanes>;
    const Wide exponent = confine(Wide(y), -largest_exponent, largest_exponent);
    return Pack<float, lanes>(exp_kernel(exponent * log_kernel(Wide(x))));
}

/// The special cases of C's pow (ISO C17, F.10.4.4).
template <class P>
EDDY_INLINE inline P pow_kernel(const P& x, const P& y) {
    using Limits = std::numeric_limits<typename P::value_type>;
    const P magnitude = abs(x), half(typename P::value_type(0.5));
    const auto whole = floor(y) == y, odd = whole & (floor(y * half) != y * half);
    const auto zero = magnitude == P(0), infinite = magnitude == P(Limits::infinity());
    P power = positive_power(select(zero | infinite, P(1), magnitude), y);
    const auto vanishes = zero ^ (y < P(0));  // |x| = 0 or ∞: whether the power is 0
    power = select(zero | infinite, select(vanishes, P(0), P(Limits::infinity())), power);
    power = select(odd, flip_sign(power, x), power);
    power = select((x < P(0)) & !infinite & !whole, P(Limits::quiet_NaN()), power);
    power = select((x == x) & (y == y), power, x + y);
    return select((y == P(0)) | (x == P(1)), P(1), power);
}

/// A polynomial for half the digits, then one step of third order (Kahan's form of Halley's rule)
/// from a start whose square is exact: t·(1 + (x/t² − t) / (2t + x/t²)).
template <class P>
EDDY_INLINE inline P cbrt_kernel(const P& x) {
    using Real = typename P::value_type;
    const auto [k, m] = decompose(abs(x));  // m in [√½, √2)
    const P third = round_small((k - P(1)) * P(Real(1) / Real(3)));
    const P remainder = k - third * P(3);
    const P root = select(remainder == P(1), P(Real(0x1.428a2f98d728bp+0)), P(1));
    const P start = polynomial<CbrtStart<Real>>(m) *
                    select(remainder == P(2), P(Real(0x1.965fea53d6e3dp+0)), root);
    const P mantissa = m * power_of_two(remainder);
    const P t = upper_half(start), quotient = mantissa / (t * t);
    const P value = mul_add(t, (quotient - t) / (t + t + quotient), t) * power_of_two(third);
    const auto ordinary = (x != P(0)) & (abs(x) <= P(std::numeric_limits<Real>::max()));
    return select(ordinary, copysign(value, x), x);
}

}  // namespace eddy::inline v0::simd
