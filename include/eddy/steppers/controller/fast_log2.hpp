#pragma once
// log2 and exp2 for step-size control: single precision, short, and the same text for a float, for
// each lane of a pack and for a CUDA thread. Invariant: a lane's bits are those of the scalar
// function. x = 2^k·m with m in [√½, √2); log2 m = f·P(f) with f = m − 1, and 2^r = 1 + r·Q(r) with
// |r| ≤ ½, so that log2(1) = 0 and 2^0 = 1 exactly. P and Q are minimax polynomials printed by
// scripts/fit_fast_log2.py, evaluated in pairs (Estrin's scheme) for a third of the latency of
// Horner's rule.
// Test: tests/steppers/fast_log2.cpp

#include <eddy/steppers/controller/binade.hpp>

namespace eddy::inline v0 {

namespace detail {

/// c0 + c1·x.
template <class Real>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Real linear(float c0, float c1, const Real& x) {
    return mul_add(Real(c1), x, Real(c0));
}

}  // namespace detail

/// log2(x) for positive normal x, with an absolute error below 1.5e-7 + 6e-8·|log2(x)|. For other x
/// the value means nothing.
template <class Real>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Real fast_log2(const Real& x) {
    using detail::bits, detail::from_bits, detail::linear;
    using Integer = decltype(bits(x));
    constexpr std::uint32_t one = bits(1.f), sqrt_half = bits(0x1.6a09e6p-1f);
    constexpr std::uint32_t mantissa_mask = 0x7fffff;
    constexpr float integer = 0x1p23f;  // from here on the low bits count ones

    const Integer shifted = bits(x) + Integer(one - sqrt_half);
    const Real k = from_bits(shifted >> 23 | Integer(bits(integer))) - Real(integer + 127);
    const Real f = from_bits((shifted & Integer(mantissa_mask)) + Integer(sqrt_half)) - Real(1);
    const Real f2 = f * f;
    const Real low = mul_add(linear(4.80939408e-1f, -3.6008717e-1f, f), f2,
                             linear(1.44269477f, -7.21357149e-1f, f));
    const Real high = mul_add(linear(2.36885294e-1f, -1.45734548e-1f, f), f2,
                              linear(2.86708266e-1f, -2.50070361e-1f, f));
    return mul_add(f, mul_add(high, f2 * f2, low), k);  // P: absolute error 4.8e-8 of log2
}

/// 2^x with a relative error below 3e-7. Beyond ±126 it is that of ±126; NaN stays NaN.
template <class Real>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Real fast_exp2(const Real& x) {
    using detail::bits, detail::from_bits, detail::linear;
    using Integer = decltype(bits(x));
    constexpr float to_nearest = 0x1.8p23f;  // adding it rounds to an integer, kept in the low bits

    const Real confined = max(min(x, Real(126)), Real(-126));
    const Real shifted = confined + Real(to_nearest);
    const Real r = confined - (shifted - Real(to_nearest));
    const Real power = from_bits((bits(shifted) << 23) + Integer(bits(1.f)));
    const Real r2 = r * r;
    const Real low =
        mul_add(linear(2.40222416e-1f, 5.55073557e-2f, r), r2, linear(1.f, 6.93146977e-1f, r));
    const Real high = linear(9.67155179e-3f, 1.32642742e-3f, r);
    return mul_add(high, r2 * r2, low) * power;  // Q: relative error 9.2e-8
}

}  // namespace eddy::inline v0
