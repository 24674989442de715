#pragma once
// The two binary formats as the functions see them: exponents, roundings and powers of two by work
// on the bits.
// Test: tests/core/pack_math.cpp

#include <eddy/core/pack.hpp>

namespace eddy::inline v0::simd {

template <class Real>
struct Format;
template <>
struct Format<double> {
    static constexpr int mantissa_bits = 52;
    static constexpr double bias = 1023, smallest_normal = 0x1p-1022;
    static constexpr double integer = 0x1p52;  // from here on every number is an integer
    static constexpr double subnormal_scale = 0x1p54, subnormal_exponent = 54;
    // ln 2 and π/4 as sums whose first term has zeros at its end, so that small multiples of it are
    // exact.
    static constexpr double log2_e = 0x1.71547652b82fep+0;
    static constexpr double ln2_hi = 0x1.62e42fefa3800p-1, ln2_lo = 0x1.ef35793c76730p-45;
    static constexpr double pi_4_hi = 0x1.921fb54442d10p-1, pi_4_lo = 0x1.08d313198a2e0p-50;
};
template <>
struct Format<float> {
    static constexpr int mantissa_bits = 23;
    static constexpr float bias = 127, smallest_normal = 0x1p-126f;
    static constexpr float integer = 0x1p23f;
    static constexpr float subnormal_scale = 0x1p25f, subnormal_exponent = 25;
    static constexpr float log2_e = 0x1.715476p+0f;
    static constexpr float ln2_hi = 0x1.62e400p-1f, ln2_lo = 0x1.7f7d1cp-20f;
    static constexpr float pi_4_hi = 0x1.921fb0p-1f, pi_4_lo = 0x1.5110b4p-23f;
};
template <class P>
using FormatOf = Format<typename P::value_type>;

/// The nearest integer, ties to even, for |x| below a quarter of `Format::integer`.
template <class P>
EDDY_INLINE inline P round_small(const P& x) {
    const P magic(FormatOf<P>::integer * 3 / 2);
    return (x + magic) - magic;
}

/// The low bits of an integer k, |k| below a quarter of `Format::integer`.
template <class P>
EDDY_INLINE inline auto integer_bits(const P& k) {
    return bits(k + P(FormatOf<P>::integer * 3 / 2));
}

/// 2^k for an integer k whose power is a normal number.
template <class P>
EDDY_INLINE inline P power_of_two(const P& k) {
    const P biased = k + P(FormatOf<P>::integer * 3 / 2 + FormatOf<P>::bias);
    return from_bits(bits(biased) << FormatOf<P>::mantissa_bits);
}

/// x·2^k, in two factors so that neither the largest nor the subnormal results are lost on the way.
template <class P>
EDDY_INLINE inline P scale(const P& x, const P& k) {
    const P half = round_small(k * P(typename P::value_type(0.5)));
    return x * power_of_two(half) * power_of_two(k - half);
}

/// x = 2^exponent · mantissa, mantissa in [√½, √2), for positive finite x.
template <class P>
struct Decomposed {
    P exponent, mantissa;
};
template <class P>
EDDY_INLINE inline Decomposed<P> decompose(const P& x) {
    using Real = typename P::value_type;
    using Integer = BitsOf<Real>;
    using F = Format<Real>;
    constexpr Real sqrt_half = Real(0x1.6a09e667f3bcdp-1);
    constexpr Integer low = std::bit_cast<Integer>(sqrt_half);
    constexpr Integer shift = std::bit_cast<Integer>(Real(1)) - low;
    constexpr Integer mantissa_mask = (Integer{1} << F::mantissa_bits) - 1;
    const auto subnormal = x < P(F::smallest_normal);
    const P normal = select(subnormal, x * P(F::subnormal_scale), x);
    const auto shifted = bits(normal) + shift;
    const P biased = from_bits(shifted >> F::mantissa_bits | std::bit_cast<Integer>(F::integer)) -
                     P(F::integer + F::bias);
    return {select(subnormal, biased - P(F::subnormal_exponent), biased),
            from_bits((shifted & mantissa_mask) + low)};
}

/// `x` with its sign flipped where the sign of `sign` is set.
template <class P>
EDDY_INLINE inline P flip_sign(const P& x, const P& sign) {
    return from_bits(bits(x) ^ (bits(sign) & sign_bit<typename P::value_type>));
}

}  // namespace eddy::inline v0::simd
