#pragma once
// Random words as a pure function of a key and a counter: Philox4x32 (Salmon, Moraes, Dror & Shaw
// 2011, SC '11, doi:10.1145/2063384.2063405, section 3.3). Nothing is stored and nothing is drawn in
// order: whoever knows key and counter has the words, on any machine, at any time. The same text
// serves a plain word, a CUDA thread, and a pack of counters, one in each lane: its words lie in the
// low halves of 64-bit lanes, since the products of two words, which the method is made of, have 64
// bits. The high halves then hold anything.
// Test: tests/core/random.cpp

#include <cstdint>
#include <eddy/core/pack.hpp>
#include <eddy/core/static_for.hpp>

namespace eddy::inline v0 {

/// A seed, as the two words of a Philox key.
struct PhiloxKey {
    std::uint32_t low = 0, high = 0;

    PhiloxKey() = default;
    EDDY_HD constexpr explicit PhiloxKey(std::uint64_t seed)
        : low(static_cast<std::uint32_t>(seed)), high(static_cast<std::uint32_t>(seed >> 32)) {}
};

/// A counter, or what Philox makes of it: four words, each a std::uint32_t or a pack of 64-bit lanes
/// whose low halves are words.
template <class Word>
struct PhiloxWords {
    Word w[4];
};

namespace detail {

template <class Word>
struct WordProduct {
    Word high, low;
};
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr WordProduct<std::uint32_t> multiply_words(
    std::uint32_t a, std::uint32_t b) {
    const std::uint64_t product = std::uint64_t{a} * b;
    return {static_cast<std::uint32_t>(product >> 32), static_cast<std::uint32_t>(product)};
}
template <int lanes>
[[nodiscard]] EDDY_INLINE inline WordProduct<Pack<std::uint64_t, lanes>> multiply_words(
    const Pack<std::uint64_t, lanes>& a, std::uint32_t b) {
    using Words = Pack<std::uint64_t, lanes>;
    const Words product =
        simd::map_parts<Words>([](typename Words::Part x, typename Words::Part y)
                                   EDDY_INLINE { return simd::multiply_low_halves(x, y); },
                               a, Words(b));
    return {product >> 32, product};
}

}  // namespace detail

/// The words for a counter. Ten rounds pass all tests of randomness known today with a margin; seven
/// are the fewest that pass.
template <int rounds = 10, class Word>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr PhiloxWords<Word> philox(
    const PhiloxWords<Word>& counter, PhiloxKey key) {
    static_assert(rounds >= 7, "philox: fewer than seven rounds fail tests of randomness");
    Word c0 = counter.w[0], c1 = counter.w[1], c2 = counter.w[2], c3 = counter.w[3];
    static_for<0, rounds>([&]<int round>() EDDY_INLINE {
        const auto p = detail::multiply_words(c0, 0xd2511f53u);
        const auto q = detail::multiply_words(c2, 0xcd9e8d57u);
        c0 = q.high ^ c1 ^ Word(key.low);
        c1 = q.low;
        c2 = p.high ^ c3 ^ Word(key.high);
        c3 = p.low;
        key.low += 0x9e3779b9u;
        key.high += 0xbb67ae85u;
    });
    return {{c0, c1, c2, c3}};
}

}  // namespace eddy::inline v0
