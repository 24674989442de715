#pragma once
// Normal variates from random words, in single precision, by Box & Muller (1958, Ann. Math. Stat.
// 29(2), 610): two words give a radius and an angle, these two normals. No word is rejected, so a
// normal has a fixed counter; a normal has to be normal rather than accurate, and single precision
// biases moments by about 1e-7, far below the noise of any sample. Logarithm, sine and cosine are
// polynomials of our own: the same text for a plain number, for each lane of a pack and for a CUDA
// thread, hence the same bits wherever multiply-adds are fused; on targets without them the last
// place may differ. The largest radius is sqrt(66 ln 2) = 6.76: of 2^31 normals, 0.06 should be
// beyond 6.66.
// Test: tests/core/random.cpp

#include <cstdint>
#include <eddy/core/bits.hpp>
#include <eddy/core/math.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/core/random/philox.hpp>

namespace eddy::inline v0 {

namespace detail {

/// Two words side by side in 32-bit lanes, as many as a register holds; and numbers back from there.
template <int lanes>
[[nodiscard]] EDDY_INLINE inline Pack<std::uint32_t, 2 * lanes> beside(
    const Pack<std::uint64_t, lanes>& even, const Pack<std::uint64_t, lanes>& odd) {
    using Words = Pack<std::uint64_t, lanes>;
    using Halves = Pack<std::uint32_t, 2 * lanes>;
    const Words both = (even & Words(0xffffffff)) | (odd << 32);
    return simd::map_parts<Halves>(
        [](typename Words::Part x) EDDY_INLINE { return std::bit_cast<typename Halves::Part>(x); },
        both);
}
template <int lanes>
EDDY_INLINE inline void separate(const Pack<float, lanes>& both, Pack<float, lanes / 2>& even,
                                 Pack<float, lanes / 2>& odd) {
    using Words = Pack<std::uint64_t, lanes / 2>;
    using Narrow = Pack<std::uint32_t, lanes / 2>;
    const auto words =
        simd::map_parts<Words>([](typename Pack<float, lanes>::Part x)
                                   EDDY_INLINE { return std::bit_cast<typename Words::Part>(x); },
                               both);
    even = from_bits(Narrow(words));
    odd = from_bits(Narrow(words >> 32));
}

/// The float nearest to a word, read as unsigned or as signed.
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr float nearest_float(std::uint32_t word) {
    return static_cast<float>(word);
}
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr float nearest_signed_float(std::uint32_t word) {
    return static_cast<float>(static_cast<std::int32_t>(word));
}
template <int lanes>
[[nodiscard]] EDDY_INLINE inline Pack<float, lanes> nearest_float(
    const Pack<std::uint32_t, lanes>& word) {
    return Pack<float, lanes>(word);
}
template <int lanes>
[[nodiscard]] EDDY_INLINE inline Pack<float, lanes> nearest_signed_float(
    const Pack<std::uint32_t, lanes>& word) {
    return Pack<float, lanes>(Pack<std::int32_t, lanes>(word));
}

/// log u for u in [2^-33, 1]: u = 2^k·m with m in [√½, √2), and the polynomial of Cephes' logf for
/// log m, without a division.
template <class Single>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Single log_of_uniform(const Single& u) {
    using Integer = decltype(bits(u));
    constexpr std::uint32_t one = bits(1.f), sqrt_half = 0x3f3504f3;
    constexpr float integer = 0x1p23f;  // from here on the low bits count ones
    const Integer shifted = bits(u) + Integer(one - sqrt_half);
    const Single k = from_bits((shifted >> 23) | Integer(bits(integer))) - Single(integer + 127);
    const Single f = from_bits((shifted & Integer(0x7fffff)) + Integer(sqrt_half)) - Single(1);
    const Single f2 = f * f;
    Single tail(7.0376836292e-2f);
    tail = mul_add(tail, f, Single(-1.1514610310e-1f));
    tail = mul_add(tail, f, Single(1.1676998740e-1f));
    tail = mul_add(tail, f, Single(-1.2420140846e-1f));
    tail = mul_add(tail, f, Single(1.4249322787e-1f));
    tail = mul_add(tail, f, Single(-1.6668057665e-1f));
    tail = mul_add(tail, f, Single(2.0000714765e-1f));
    tail = mul_add(tail, f, Single(-2.4999993993e-1f));
    tail = mul_add(tail, f, Single(3.3333331174e-1f));
    const Single log_m = mul_add(f2 * f, tail, mul_add(Single(-0.5f), f2, f));
    return mul_add(k, Single(0.693147181f), log_m);
}

/// r·cos a and r·sin a for an angle a of `turn` · 2^-32 turns.
template <class Single, class Integer>
EDDY_INLINE EDDY_HD inline void polar(const Single& r, const Integer& turn, Single& r_cos,
                                      Single& r_sin) {
    constexpr std::uint32_t eighth = 0x20000000, quarter = 0x40000000, half = 0x80000000;
    const Integer b = turn + Integer(eighth);
    const Single x = nearest_signed_float((b & Integer(quarter - 1)) - Integer(eighth)) *
                     Single(0x1.921fb6p-30f);  // |x| ≤ π/4
    const Single z = x * x;
    Single sine(-1.95152445e-4f), cosine(2.44331178e-5f);
    sine = mul_add(sine, z, Single(8.33216059e-3f));
    sine = mul_add(sine, z, Single(-1.66666546e-1f));
    sine = mul_add(x * z, sine, x);
    cosine = mul_add(cosine, z, Single(-1.3887316e-3f));
    cosine = mul_add(cosine, z, Single(4.16666457e-2f));
    cosine = mul_add(cosine, z, Single(-0.5f));
    cosine = mul_add(cosine, z, Single(1));
    const auto odd = (b & Integer(quarter)) != Integer(0);
    r_sin = r * from_bits(bits(select(odd, cosine, sine)) ^ (b & Integer(half)));
    r_cos =
        r * from_bits(bits(select(odd, sine, cosine)) ^ ((b + Integer(quarter)) & Integer(half)));
}

}  // namespace detail

/// A word as a number of (0, 1]: never 0, so that its logarithm is finite.
template <class Integer>
[[nodiscard]] EDDY_INLINE EDDY_HD inline auto uniform(const Integer& word) {
    const auto nearest = detail::nearest_float(word);
    using Single = std::remove_cvref_t<decltype(nearest)>;
    return mul_add(nearest, Single(0x1p-32f), Single(0x1p-33f));
}

namespace detail {

/// Two normals from two words.
template <class Integer, class Single>
EDDY_INLINE EDDY_HD inline void box_muller(const Integer& radius, const Integer& turn,
                                           Single& first, Single& second) {
    const Single r = sqrt(Single(-2) * log_of_uniform(uniform(radius)));
    polar(r, turn, first, second);
}

}  // namespace detail

/// What a block of four words is worth.
template <class Single>
struct Normals {
    Single z[4];
};
/// Four independent normals, from the four words of a block.
[[nodiscard]] EDDY_INLINE EDDY_HD inline Normals<float> normals(
    const PhiloxWords<std::uint32_t>& words) {
    Normals<float> result;
    for (int pair = 0; pair < 4; pair += 2)
        detail::box_muller(words.w[pair], words.w[pair + 1], result.z[pair], result.z[pair + 1]);
    return result;
}
/// Both pairs at once: 32-bit lanes are twice as many.
template <int lanes>
[[nodiscard]] EDDY_INLINE inline Normals<Pack<float, lanes>> normals(
    const PhiloxWords<Pack<std::uint64_t, lanes>>& words) {
    Normals<Pack<float, lanes>> result;
    Pack<float, 2 * lanes> r_cos, r_sin;
    detail::box_muller(detail::beside(words.w[0], words.w[2]),
                       detail::beside(words.w[1], words.w[3]), r_cos, r_sin);
    detail::separate(r_cos, result.z[0], result.z[2]);
    detail::separate(r_sin, result.z[1], result.z[3]);
    return result;
}

}  // namespace eddy::inline v0
