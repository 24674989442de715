#pragma once
// x = quadrant·π/2 + r, |r| ≤ π/4, for x ≥ 0. Below 2^20 by subtracting multiples of π/2 in four
// exact parts (Cody & Waite 1980, ch. 8); above, lane by lane, by a product with the bits of 2/π
// that matter (Payne & Hanek 1983, ACM SIGNUM 18(1), 19). Which of the two a lane takes depends on
// that lane alone. Floats are reduced as doubles.
// Test: tests/core/pack_math.cpp

#include <cmath>
#include <cstdint>
#include <eddy/core/simd/double_word.hpp>
#include <eddy/core/simd/format.hpp>

namespace eddy::inline v0::simd {

/// The quadrant as an integer (any that is right modulo 4), and r = hi + lo.
template <class P>
struct Reduced {
    P quadrant, hi, lo;
};

// 2/π, 1,280 bits after the binary point, behind 64 zeros so that no index is negative.
inline constexpr std::uint64_t two_over_pi[] = {
    0,
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
    0xf0cfbc209af4361d,
};

// π/2 in parts of 33 bits, the last of 53.
inline constexpr double half_pi_parts[] = {0x1.921fb54400000p+0, 0x1.0b4611a600000p-34,
                                           0x1.3198a2e000000p-69, 0x1.b839a252049c1p-104};
inline constexpr double half_pi_hi = 0x1.921fb54442d18p+0, half_pi_lo = 0x1.1a62633145c07p-54;

/// 64 bits of 2/π from bit `position` after the binary point.
[[nodiscard]] inline std::uint64_t two_over_pi_bits(int position) {
    const int from = position + 63, word = from / 64, shift = from % 64;
    if (shift == 0) return two_over_pi[word];
    return two_over_pi[word] << shift | two_over_pi[word + 1] >> (64 - shift);
}

/// The reduction of one finite x ≥ 2^20.
[[nodiscard, gnu::noinline]] inline Reduced<double> reduce_large(double x) {
    __extension__ using Wide = unsigned __int128;
    int exponent = 0;
    const auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::frexp(x, &exponent), 53));
    exponent -= 53;  // x = mantissa·2^exponent

    // Bits of 2/π before `position` contribute multiples of 4 quadrants; 192 bits from there give
    // the rest.
    const int position = exponent - 1;
    const Wide low = Wide{mantissa} * two_over_pi_bits(position + 128);
    const Wide middle = Wide{mantissa} * two_over_pi_bits(position + 64) + (low >> 64);
    const std::uint64_t high =
        mantissa * two_over_pi_bits(position) + static_cast<std::uint64_t>(middle >> 64);

    // The product counts quadrants in units of 2^-190. The top two bits of `high` are the quadrant;
    // a fraction of one half or more counts down from the next one, which is what sign extension
    // does.
    const auto signed_high = static_cast<std::int64_t>(high << 2) >> 2;
    const std::uint64_t quadrant = (high + (std::uint64_t{1} << 61)) >> 62;
    double hi = 0, lo = 0;
    const auto accumulate = [&](double term) {  // two-sum; terms are exact and grow
        const double total = hi + term, part = total - hi;
        lo += (hi - (total - part)) + (term - part);
        hi = total;
    };
    const auto accumulate_word = [&](std::uint64_t word, double unit) {
        accumulate(static_cast<double>(word & 0xffffffff) * unit);
        accumulate(static_cast<double>(word >> 32) * (unit * 0x1p32));
    };
    accumulate_word(static_cast<std::uint64_t>(low), 0x1p-190);
    accumulate_word(static_cast<std::uint64_t>(middle), 0x1p-126);
    accumulate(static_cast<double>(signed_high & 0xffffffff) * 0x1p-62);
    accumulate(static_cast<double>(signed_high >> 32) * 0x1p-30);

    const double fraction = hi + lo, rest = lo - (fraction - hi);
    const double product = fraction * half_pi_hi;
    const double product_lo =
        std::fma(fraction, half_pi_hi, -product) + (fraction * half_pi_lo + rest * half_pi_hi);
    const double r = product + product_lo;
    return {static_cast<double>(quadrant), r, product_lo - (r - product)};
}

/// The reduction of the lanes of x that are in `large`; the others mean nothing.
template <class P, class LaneMask>
[[gnu::noinline]] Reduced<P> reduce_large_lanes(P x, LaneMask large) {
    Reduced<P> result{P(0), P(0), P(0)};
    for (int lane = 0; lane < P::size; ++lane) {
        if (!large[lane]) continue;
        const auto [quadrant, r, r_lo] = reduce_large(x[lane]);
        result.quadrant.set(lane, quadrant);
        result.hi.set(lane, r);
        result.lo.set(lane, r_lo);
    }
    return result;
}

/// `reduced`, with the lanes of x that are too large for it reduced the other way.
template <class P>
EDDY_INLINE inline Reduced<P> with_large_lanes(const P& x, const Reduced<P>& reduced) {
    const auto large = (x > P(0x1p20)) & (x <= P(std::numeric_limits<double>::max()));
    if (!any(large)) [[likely]]
        return reduced;
    const auto patch = reduce_large_lanes(x, large);
    return {select(large, patch.quadrant, reduced.quadrant), select(large, patch.hi, reduced.hi),
            select(large, patch.lo, reduced.lo)};
}

template <class P>
EDDY_INLINE inline P nearest_quadrant(const P& x) {
    return round_small(x * P(0x1.45f306dc9c883p-1));
}

/// The reduction of x ≥ 0. What it gives for an infinity or a NaN means nothing.
template <int lanes>
EDDY_INLINE inline Reduced<Pack<double, lanes>> reduce(const Pack<double, lanes>& x) {
    using P = Pack<double, lanes>;
    const P k = nearest_quadrant(x);
    // The products with the first three parts are exact, the first difference too; the others keep
    // their errors.
    const P first = mul_add(-k, P(half_pi_parts[0]), x);
    const P second = k * P(half_pi_parts[1]), third = k * P(half_pi_parts[2]);
    const auto [a, a_lo] = two_sum(first, -second);
    const auto [b, b_lo] = two_sum(a, -third);
    const auto [hi, lo] = fast_two_sum(b, mul_add(-k, P(half_pi_parts[3]), a_lo + b_lo));
    return with_large_lanes(x, {k, hi, lo});
}

/// No float below 2^20 is closer than 2^-28 to a multiple of π/2, so 86 bits of it are enough.
template <int lanes>
EDDY_INLINE inline Reduced<Pack<float, lanes>> reduce(const Pack<float, lanes>& x) {
    using Wide = Pack<double, lanes>;
    using P = Pack<float, lanes>;
    const Wide wide(x), k = nearest_quadrant(wide);
    const Wide first = mul_add(-k, Wide(half_pi_parts[0]), wide);
    const Wide r = mul_add(-k, Wide(half_pi_parts[1] + half_pi_parts[2]), first);
    const auto reduced = with_large_lanes(wide, {k, r, Wide(0)});
    const P hi(reduced.hi);
    return {P(reduced.quadrant), hi, P(reduced.hi - Wide(hi))};
}

}  // namespace eddy::inline v0::simd
