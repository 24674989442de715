#pragma once
// e^x and what is built on it. x = k·ln 2 + r with |r| ≤ ln 2 / 2, e^r by a polynomial; everything
// but the last rounding is kept as hi + lo, so that expm1 and the hyperbolic functions lose nothing
// where terms cancel. Reduction in two parts: Cody & Waite 1980, Software Manual for the Elementary
// Functions, ch. 6.
// Test: tests/core/pack_math.cpp

#include <eddy/core/simd/coefficients.hpp>
#include <eddy/core/simd/double_word.hpp>
#include <eddy/core/simd/format.hpp>
#include <eddy/core/simd/polynomial.hpp>

namespace eddy::inline v0::simd {

/// e^x = 2^exponent · (1 + hi + lo), where hi is the reduced argument and lo the rest of the
/// series.
template <class P>
struct Exponential {
    P exponent, hi, lo;

    /// 1 + hi + lo.
    DoubleWord<P> factor() const {
        const auto [one_hi, one_lo] = fast_two_sum(P(1), hi);
        return fast_two_sum(one_hi, one_lo + lo);
    }
    /// 2^−exponent, or a number too small to matter.
    P inverse_power() const { return power_of_two(-min(exponent, P(100))); }
    /// (e^x − 1)·2^−exponent.
    DoubleWord<P> factor_minus(const P& inverse_power) const {
        const auto [sum_hi, sum_lo] = fast_two_sum(P(1) - inverse_power, hi);
        return fast_two_sum(sum_hi, sum_lo + lo);
    }
};

/// 2^k·e^(hi + lo) for |hi| ≤ ln 2 / 2 and lo below its last place.
template <class P>
EDDY_INLINE inline Exponential<P> exponential_series(const P& k, const P& hi, const P& lo) {
    return {k, hi, mul_add(hi * hi, polynomial<ExpTail<typename P::value_type>>(hi), lo)};
}

/// x less the nearest multiple k of ln 2, as a sum; |x| at most a few binades' worth beyond the
/// finite exponentials.
template <class P>
EDDY_INLINE inline DoubleWord<P> less_multiple_of_ln2(const P& x, const P& k) {
    using F = FormatOf<P>;
    const P rest = mul_add(-k, P(F::ln2_hi), x);  // exact
    const P hi = mul_add(-k, P(F::ln2_lo), rest);
    return {hi, mul_add(-k, P(F::ln2_lo), rest - hi)};
}

/// For x whose exponential is within a few binades of the finite numbers; NaN stays NaN.
template <class P>
EDDY_INLINE inline Exponential<P> exponential(const P& x) {
    const P k = round_small(x * P(FormatOf<P>::log2_e));
    const auto [hi, lo] = less_multiple_of_ln2(x, k);
    return exponential_series(k, hi, lo);
}

/// x confined to [low, high]; NaN stays NaN.
template <class P>
EDDY_INLINE inline P confine(const P& x, typename P::value_type low, typename P::value_type high) {
    return max(min(x, P(high)), P(low));
}

// Beyond these e^x rounds to 0 or to infinity.
template <class Real>
inline constexpr Real exp_low = sizeof(Real) == 8 ? Real(-746) : Real(-104);
template <class Real>
inline constexpr Real exp_high = sizeof(Real) == 8 ? Real(710) : Real(89);

/// (1 + hi + lo)·2^exponent.
template <class P>
EDDY_INLINE inline P rounded(const Exponential<P>& e) {
    return scale(P(1) + (e.hi + e.lo), e.exponent);
}

template <class P>
EDDY_INLINE inline P exp_kernel(const P& x) {
    using Real = typename P::value_type;
    return rounded(exponential(confine(x, exp_low<Real>, exp_high<Real>)));
}

/// e^(hi + lo), lo below the last place of hi.
template <class P>
EDDY_INLINE inline P long_exp(const P& hi, const P& lo) {
    using Real = typename P::value_type;
    const P x = confine(hi, exp_low<Real>, exp_high<Real>);
    const P k = round_small(x * P(FormatOf<P>::log2_e));
    const auto [rest, rest_lo] = less_multiple_of_ln2(x, k);
    // An error of |x| ≈ 700 in its last place is large beside `rest`: it must be part of it.
    const auto sum = two_sum(rest, select(x == hi, lo, P(0)) + rest_lo);
    return rounded(exponential_series(k, sum.hi, sum.lo));
}

template <class P>
EDDY_INLINE inline P expm1_kernel(const P& x) {
    using Real = typename P::value_type;
    const auto e = exponential(confine(x, Real(-40), exp_high<Real>));
    const auto scaled = e.factor_minus(e.inverse_power());
    return copysign(scale(scaled.hi, e.exponent), x);
}

/// sinh x = (t + t / (t + 1)) / 2 with t = e^|x| − 1.
template <class P>
EDDY_INLINE inline P sinh_kernel(const P& x) {
    using Real = typename P::value_type;
    const auto e = exponential(min(abs(x), P(exp_high<Real> + 1)));
    const P inverse = e.inverse_power();
    const auto minus = e.factor_minus(inverse);
    const auto quotient = divide(minus, e.factor());
    const auto [hi, lo] = fast_two_sum(minus.hi, inverse * quotient.hi);
    const P total = hi + (lo + mul_add(inverse, quotient.lo, minus.lo));
    return copysign(scale(total, e.exponent - P(1)), x);
}

template <class P>
EDDY_INLINE inline P cosh_kernel(const P& x) {
    using Real = typename P::value_type;
    const auto e = exponential(min(abs(x), P(exp_high<Real> + 1)));
    const P inverse = e.inverse_power();
    const auto plus = e.factor();
    const auto [hi, lo] = fast_two_sum(plus.hi, inverse * inverse / plus.hi);
    return scale(hi + (lo + plus.lo), e.exponent - P(1));
}

/// tanh x = x + x³ T(x²) up to tanh x = 1/2, beyond it 1 − 2 / (e^(2|x|) + 1). What is added to x or to 1 is
/// smaller than the result, and so is what its roundings add: neither wants more digits than the type has, nor
/// ln 2 two words, since 2 / (e^(2|x|) + 1) falls faster than multiples of its error grow.
template <class P>
EDDY_INLINE inline P tanh_kernel(const P& x) {
    using Real = typename P::value_type;
    using F = FormatOf<P>;
    const P magnitude = min(abs(x), P(20));
    // The low bits of `biased` are an exponent, that of 2^k.
    const P origin(F::integer * 3 / 2 + F::bias);
    const P biased = mul_add(magnitude, P(2 * F::log2_e), origin);
    const P r = mul_add(origin - biased, P(Real(0x1.62e42fefa39efp-2)), magnitude);
    const P power = from_bits(bits(biased) << F::mantissa_bits);
    const P factor = mul_add(polynomial<TanhPower<Real>>(r), r, P(1));
    const P far = P(1) - P(2) / mul_add(power, factor, P(1));
    const P square = magnitude * magnitude;
    const P near = mul_add(magnitude * square, polynomial<TanhTail<Real>>(square), magnitude);
    return flip_sign(select(magnitude < P(Real(0x1.193ea7aad030bp-1)), near, far), x);
}

}  // namespace eddy::inline v0::simd
