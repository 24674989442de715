#pragma once
// Which normals belong where: time is cut into cells, each with root normals of its own, and inside a
// cell there is a dyadic tree. A normal is a pure function of seed, path, cell, node, kind (of W, of
// H) and noise. The counter of a block of four is
//
//     { node · 256 + block, cell (low), path (low), cell (16 bits) | path (16 bits) · 2^16 }
//
// Roots (node 0) count their normals apart by kind, so that a method that needs W alone meets the
// W of one that needs both; few noises share a block over several cells. Nodes count from 1 as in a
// heap. Blocks from 128 on are left for other uses.
// Test: tests/steppers/brownian.cpp

#include <cstdint>
#include <eddy/core/float_float.hpp>
#include <eddy/core/lanes.hpp>
#include <eddy/core/random/normal.hpp>

namespace eddy::inline v0 {

/// The largest number of noises: each kind has 32 blocks.
inline constexpr int most_noises = 128;
/// Paths and cells have numbers below it.
inline constexpr double path_limit = 0x1p48;

namespace detail {

/// Whole numbers below 2^52, one for each place of a Time.
template <class Time>
struct CountsOf {
    using type = std::uint64_t;
};
template <int lanes>
struct CountsOf<Pack<double, lanes>> {
    using type = Pack<std::uint64_t, lanes>;
};
[[nodiscard]] EDDY_INLINE EDDY_HD inline std::uint64_t as_counts(double x) {
    return static_cast<std::uint64_t>(x);
}
[[nodiscard]] EDDY_INLINE EDDY_HD inline std::uint64_t as_counts(FloatFloat x) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(x.high) +
                                      static_cast<std::int64_t>(x.low));
}
template <int lanes>
[[nodiscard]] EDDY_INLINE inline Pack<std::uint64_t, lanes> as_counts(
    const Pack<double, lanes>& x) {
    constexpr double ones = 0x1p52;  // from here on the low bits count ones
    return bits(x + Pack<double, lanes>(ones)) ^ Pack<std::uint64_t, lanes>(bits(ones));
}

[[nodiscard]] EDDY_INLINE EDDY_HD constexpr std::uint32_t low_word(std::uint64_t x) {
    return static_cast<std::uint32_t>(x);
}
template <int lanes>
[[nodiscard]] EDDY_INLINE inline Pack<std::uint64_t, lanes> low_word(
    const Pack<std::uint64_t, lanes>& x) {
    return x;  // the high half is not read
}

/// A word in 32-bit lanes.
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr std::uint32_t packed(std::uint32_t word) {
    return word;
}
template <int lanes>
[[nodiscard]] EDDY_INLINE inline Pack<std::uint32_t, lanes> packed(
    const Pack<std::uint64_t, lanes>& word) {
    return Pack<std::uint32_t, lanes>(word);
}

template <class Word>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Word choose(bool condition, const Word& x, const Word& y) {
    return condition ? x : y;
}
template <class Real, int lanes, class Element>
[[nodiscard]] EDDY_INLINE inline Pack<Element, lanes> choose(const Mask<Real, lanes>& mask,
                                                             const Pack<Element, lanes>& x,
                                                             const Pack<Element, lanes>& y) {
    return select(mask, x, y);
}

/// The bits of a float with its sign changed where the lowest bit of `odd` is set.
template <class Single, class Integer>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Single negated_where(const Single& x, const Integer& odd) {
    return from_bits(bits(x) ^ (odd << 31));
}

/// How many cells a block of normals serves.
[[nodiscard]] EDDY_HD constexpr int steps_to_a_block(int noises) {
    return noises == 1 ? 4 : noises == 2 ? 2 : 1;
}

/// Blocks that are drawn at a time: one is a long chain of operations that wait for each other, several in
/// packs of as many times the lanes fill each other's gaps, as long as registers suffice.
template <class Time>
inline constexpr int blocks_at_once = 1;
template <int lanes>
inline constexpr int blocks_at_once<Pack<double, lanes>> = lanes < 4                       ? 1
                                                           : lanes == native_lanes<double> ? 4
                                                                                           : 2;

/// The blocks of one path, for a seed: the normals of a cell, whatever the node.
template <class Time>
class PathNoise {
  public:
    using Counts = typename CountsOf<Time>::type;
    using Single = eddy::WithElement<Time, float>;

    EDDY_HD PathNoise(PhiloxKey key, const Counts& path, bool antithetic)
        : key_(key), path_(path), antithetic_(antithetic) {
        if (antithetic) path_ = path_ ^ (path_ & Counts(1));
        odd_ = packed(low_word(path & Counts(1)));
    }

    /// The normals of one kind at the roots of cells, one for each noise.
    template <int noises>
    EDDY_INLINE EDDY_HD void root(const Counts& cell, int kind, Single (&z)[noises]) const {
        constexpr int shift = noises == 1 ? 2 : noises == 2 ? 1 : 0;  // log2 of cells to a block
        const Counts group = cell >> shift;
        static_for<0, (noises + 3) / 4>([&]<int b>() EDDY_INLINE {
            const auto words = block(group, static_cast<std::uint32_t>(32 * kind + b));
            if constexpr (shift == 0) {
                const Normals<Single> drawn = normals(words);
                static_for<0, (noises - 4 * b < 4 ? noises - 4 * b : 4)>(
                    [&]<int i>() EDDY_INLINE { z[4 * b + i] = drawn.z[i]; });
            } else {
                shared_block<noises>(words, cell, z);
            }
        });
        mirror(z);
    }

    /// Those of W, then, where there is room, those of H, then those of K.
    template <int noises, int count>
    EDDY_INLINE EDDY_HD void root_of_cell(const Counts& cell, Single (&z)[count]) const {
        static_assert(count % noises == 0 && count <= 3 * noises);
        static_for<0, count / noises>([&]<int kind>() EDDY_INLINE {
            Single of_kind[noises];
            root(cell, kind, of_kind);
            for_components<noises>([&](int i) EDDY_INLINE { z[kind * noises + i] = of_kind[i]; });
        });
    }
    /// The same for all cells that share a block with this one, and for those of the blocks after it.
    template <int noises, int cells, int count>
    EDDY_INLINE EDDY_HD void root_of_cells(const Counts& cell, Single (&z)[cells][count]) const {
        constexpr int of_block = steps_to_a_block(noises), num_blocks = cells / of_block;
        static_assert(cells % of_block == 0);
        const Counts group = cell >> (of_block == 4 ? 2 : of_block == 2 ? 1 : 0);
        static_for<0, count / noises>([&]<int kind>() EDDY_INLINE {
            static_for<0, (noises + 3) / 4>([&]<int b>() EDDY_INLINE {
                Normals<Single> drawn[num_blocks];
                neighbours(group, static_cast<std::uint32_t>(32 * kind + b), drawn);
                static_for<0, 4 * num_blocks>([&]<int i>() EDDY_INLINE {
                    constexpr int of_four = i % 4, number = of_four % noises + 4 * b;
                    constexpr int to = i / 4 * of_block + of_four / noises % of_block;
                    if constexpr (of_four + 4 * b < noises * of_block) {
                        const Single& normal = drawn[i / 4].z[of_four];
                        z[to][kind * noises + number] =
                            antithetic_ ? negated_where(normal, odd_) : normal;
                    }
                });
            });
        });
    }

    /// The two or three normals of each noise that split a node.
    template <int count>
    EDDY_INLINE EDDY_HD void splitting(const Counts& cell, const Counts& node,
                                       Single (&z)[count]) const {
        static_for<0, (count + 3) / 4>([&]<int b>() EDDY_INLINE {
            const Normals<Single> drawn = normals(block(cell, (node << 8) | Counts(b)));
            static_for<0, (count - 4 * b < 4 ? count - 4 * b : 4)>(
                [&]<int i>() EDDY_INLINE { z[4 * b + i] = drawn.z[i]; });
        });
        mirror(z);
    }

  private:
    template <class Block>
    [[nodiscard]] EDDY_INLINE EDDY_HD auto block(const Counts& cell,
                                                 const Block& node_and_block) const {
        return philox(counter(cell, node_and_block), key_);
    }
    template <class Block>
    [[nodiscard]] EDDY_INLINE EDDY_HD auto counter(const Counts& cell,
                                                   const Block& node_and_block) const {
        using Word = decltype(low_word(cell));
        const Counts high = (cell >> 32) | ((path_ >> 32) << 16);
        return PhiloxWords<Word>{
            {low_word(Counts(node_and_block)), low_word(cell), low_word(path_), low_word(high)}};
    }

    /// Those of a block in neighbouring groups of cells, side by side.
    template <int count>
    [[nodiscard]] EDDY_INLINE EDDY_HD auto counters(const Counts& group, std::uint32_t id) const {
        if constexpr (count == 1) {
            return counter(group, id);
        } else {
            const auto first = counters<count / 2>(group, id);
            const auto second = counters<count / 2>(group + Counts(count / 2), id);
            PhiloxWords<decltype(joined(first.w[0], second.w[0]))> both;
            for_components<4>([&](int i)
                                  EDDY_INLINE { both.w[i] = joined(first.w[i], second.w[i]); });
            return both;
        }
    }
    /// The normals of a block in neighbouring groups of cells.
    template <int count>
    EDDY_INLINE EDDY_HD void neighbours(const Counts& group, std::uint32_t id,
                                        Normals<Single> (&drawn)[count]) const {
        if constexpr (count == 1) {
            drawn[0] = normals(block(group, id));
        } else {
            const auto drawn_at_once = normals(philox(counters<count>(group, id), key_));
            for_components<4>([&](int i) EDDY_INLINE {
                if constexpr (count == 2) {
                    divide(drawn_at_once.z[i], drawn[0].z[i], drawn[1].z[i]);
                } else {
                    decltype(joined(drawn[0].z[i], drawn[1].z[i])) low, high;
                    divide(drawn_at_once.z[i], low, high);
                    divide(low, drawn[0].z[i], drawn[1].z[i]);
                    divide(high, drawn[2].z[i], drawn[3].z[i]);
                }
            });
        }
    }
    /// One noise takes a normal of four from each of four cells, two take two from each of two.
    template <int noises, class Word>
    EDDY_INLINE EDDY_HD void shared_block(const PhiloxWords<Word>& words, const Counts& cell,
                                          Single (&z)[noises]) const {
        const Counts second_pair = cell & Counts(noises == 1 ? 2 : 1);
        const auto is_second = second_pair != Counts(0);
        Single first, second;
        box_muller(packed(choose(is_second, words.w[2], words.w[0])),
                   packed(choose(is_second, words.w[3], words.w[1])), first, second);
        if constexpr (noises == 1) {
            const auto odd = packed(low_word(cell & Counts(1)));
            z[0] = select(odd != decltype(odd)(0), second, first);
        } else {
            z[0] = first;
            z[1] = second;
        }
    }

    template <int count>
    EDDY_INLINE EDDY_HD void mirror(Single (&z)[count]) const {
        if (!antithetic_) return;
        for (int i = 0; i < count; ++i) z[i] = negated_where(z[i], odd_);
    }

    PhiloxKey key_;
    Counts path_;
    decltype(packed(low_word(Counts()))) odd_;
    bool antithetic_;
};

}  // namespace detail
}  // namespace eddy::inline v0
