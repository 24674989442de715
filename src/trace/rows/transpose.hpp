#pragma once
// Transposes a square of numbers in registers, as many as a native vector has lanes: in each stage
// pairs of vectors exchange blocks of half the size.
// Test: tests/core/tile_outer.cpp

#include <eddy/core/simd/layout.hpp>

namespace eddy::inline v0::simd {

/// Which elements of (a, b), side by side, a vector takes: the even blocks of both, or the odd ones.
template <int size, int block, bool odd>
struct BlocksOf {
    static constexpr int at(int i) {
        const bool from_a = (i & block) == 0;
        if (odd) return from_a ? i ^ block : size + i;
        return from_a ? i : size + (i ^ block);
    }
};

/// Elements of a and b as `Choice` says. The indices are written out: nvcc's front end expands no
/// packs among them.
template <class Choice, class V>
[[nodiscard]] EDDY_INLINE inline V choose_elements(V a, V b) {
    using C = Choice;
    if constexpr (size_of<V> == 2) {
        return __builtin_shufflevector(a, b, C::at(0), C::at(1));
    } else if constexpr (size_of<V> == 4) {
        return __builtin_shufflevector(a, b, C::at(0), C::at(1), C::at(2), C::at(3));
    } else if constexpr (size_of<V> == 8) {
        return __builtin_shufflevector(a, b, C::at(0), C::at(1), C::at(2), C::at(3), C::at(4),
                                       C::at(5), C::at(6), C::at(7));
    } else {
        static_assert(size_of<V> == 16);
        return __builtin_shufflevector(a, b, C::at(0), C::at(1), C::at(2), C::at(3), C::at(4),
                                       C::at(5), C::at(6), C::at(7), C::at(8), C::at(9), C::at(10),
                                       C::at(11), C::at(12), C::at(13), C::at(14), C::at(15));
    }
}

/// Exchanges the odd blocks of `a` (blocks of so many elements) with the even ones of `b`.
template <int block, class V>
EDDY_INLINE inline void exchange_blocks(V& a, V& b) {
    const V even = choose_elements<BlocksOf<size_of<V>, block, false>>(a, b);
    b = choose_elements<BlocksOf<size_of<V>, block, true>>(a, b);
    a = even;
}

/// Element j of vector i for element i of vector j.
template <class V, int size>
EDDY_INLINE inline void transpose(V (&rows)[size]) {
    static_assert(size == size_of<V>);
    const auto stage = [&]<int block>() EDDY_INLINE {
        for_parts<size>([&]<int i>() EDDY_INLINE {
            if constexpr ((i & block) == 0) exchange_blocks<block>(rows[i], rows[i | block]);
        });
    };
    stage.template operator()<1>();
    if constexpr (size > 2) stage.template operator()<2>();
    if constexpr (size > 4) stage.template operator()<4>();
    if constexpr (size > 8) stage.template operator()<8>();
}

}  // namespace eddy::inline v0::simd
