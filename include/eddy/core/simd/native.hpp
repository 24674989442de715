#pragma once
// The compiler's vector types, and the few instructions that it does not offer as an operator on
// them. A vector is never wider than the target's registers: wider ones compile to poor code with
// g++ 12. This file and has_fma.hpp alone know instruction sets; everything above is plain operators
// on `Vector`.
// Test: tests/core/pack.cpp

#include <bit>
#include <cmath>
#include <cstdint>
#include <eddy/core/host_device.hpp>
#include <eddy/core/simd/has_fma.hpp>
#include <type_traits>
#include <utility>

// The whole of Intel's header takes g++ half a second, twelve times as long as the part of it that the
// narrow targets have.
#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE4_1__)
#include <smmintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace eddy::inline v0::simd {

/// Bytes of the widest register that this translation unit may use.
#if defined(__AVX512F__)
inline constexpr int native_bytes = 64;
#elif defined(__AVX__)
inline constexpr int native_bytes = 32;
#else
inline constexpr int native_bytes = 16;
#endif

template <class Element, int size>
struct VectorOf {
    typedef Element type __attribute__((vector_size(sizeof(Element) * size)));
};
/// A register of `size` elements.
template <class Element, int size>
using Vector = typename VectorOf<Element, size>::type;

/// The integer of a real's width whose vectors are masks, and the one that holds its bits:
/// unsigned, so that it wraps.
template <class Element>
using MaskOf = std::conditional_t<sizeof(Element) == 8, std::int64_t, std::int32_t>;
template <class Element>
using BitsOf = std::conditional_t<sizeof(Element) == 8, std::uint64_t, std::uint32_t>;
template <class Element>
using RealOf = std::conditional_t<sizeof(Element) == 8, double, float>;

/// The sign of a real among its bits.
template <class Real>
inline constexpr BitsOf<Real> sign_bit = BitsOf<Real>{1} << (8 * sizeof(Real) - 1);

template <class V>
using ElementOf = std::remove_cvref_t<decltype(std::declval<V&>()[0])>;
template <class V>
inline constexpr int size_of = static_cast<int>(sizeof(V) / sizeof(ElementOf<V>));
template <class V>
inline constexpr bool holds_doubles = std::is_same_v<ElementOf<V>, double>;
template <class V>
inline constexpr bool holds_integers = std::is_integral_v<ElementOf<V>>;

/// a·b + c, rounded once. Without the instruction this is a library call per lane.
template <class V>
EDDY_INLINE inline V fused_multiply_add(V a, V b, V c) {
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64) {
        if constexpr (holds_doubles<V>)
            return _mm512_fmadd_pd(a, b, c);
        else
            return _mm512_fmadd_ps(a, b, c);
    } else
#endif
#if defined(__FMA__)
        if constexpr (sizeof(V) == 32) {
        if constexpr (holds_doubles<V>)
            return _mm256_fmadd_pd(a, b, c);
        else
            return _mm256_fmadd_ps(a, b, c);
    } else if constexpr (sizeof(V) == 16) {
        if constexpr (holds_doubles<V>)
            return _mm_fmadd_pd(a, b, c);
        else
            return _mm_fmadd_ps(a, b, c);
    } else
#endif
    {
        V result = c;
        for (int i = 0; i < size_of<V>; ++i) result[i] = std::fma(a[i], b[i], c[i]);
        return result;
    }
}

// The 512-bit forms below are the zero-masked ones: g++ 12 warns about its own header in the plain
// ones.

template <class V>
EDDY_INLINE inline V square_root(V x) {
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64) {
        if constexpr (holds_doubles<V>)
            return _mm512_maskz_sqrt_pd(0xff, x);
        else
            return _mm512_maskz_sqrt_ps(0xffff, x);
    } else
#endif
#if defined(__AVX__)
        if constexpr (sizeof(V) == 32) {
        if constexpr (holds_doubles<V>)
            return _mm256_sqrt_pd(x);
        else
            return _mm256_sqrt_ps(x);
    } else
#endif
#if defined(__SSE2__)
        if constexpr (sizeof(V) == 16) {
        if constexpr (holds_doubles<V>)
            return _mm_sqrt_pd(x);
        else
            return _mm_sqrt_ps(x);
    } else
#endif
    {
        V result = x;
        for (int i = 0; i < size_of<V>; ++i) result[i] = std::sqrt(x[i]);
        return result;
    }
}

/// `a < b ? a : b`, which is one instruction; g++ makes two of it, one of them for a mask.
template <class V>
EDDY_INLINE inline V lesser(V a, V b) {
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64 && !holds_integers<V>) {
        if constexpr (holds_doubles<V>)
            return _mm512_maskz_min_pd(0xff, a, b);
        else
            return _mm512_maskz_min_ps(0xffff, a, b);
    } else
#endif
        return a < b ? a : b;
}

/// `a > b ? a : b`, which is one instruction; g++ makes two of it, one of them for a mask.
template <class V>
EDDY_INLINE inline V greater(V a, V b) {
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64 && !holds_integers<V>) {
        if constexpr (holds_doubles<V>)
            return _mm512_maskz_max_pd(0xff, a, b);
        else
            return _mm512_maskz_max_ps(0xffff, a, b);
    } else
#endif
        return a > b ? a : b;
}

template <class V>
EDDY_INLINE inline V round_down(V x) {
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64) {
        constexpr int toward_minus_infinity = 0x09;
        if constexpr (holds_doubles<V>)
            return _mm512_maskz_roundscale_pd(0xff, x, toward_minus_infinity);
        else
            return _mm512_maskz_roundscale_ps(0xffff, x, toward_minus_infinity);
    } else
#endif
#if defined(__AVX__)
        if constexpr (sizeof(V) == 32) {
        if constexpr (holds_doubles<V>)
            return _mm256_floor_pd(x);
        else
            return _mm256_floor_ps(x);
    } else
#endif
#if defined(__SSE4_1__)
        if constexpr (sizeof(V) == 16) {
        if constexpr (holds_doubles<V>)
            return _mm_floor_pd(x);
        else
            return _mm_floor_ps(x);
    } else
#endif
    {
        using Bits = Vector<BitsOf<ElementOf<V>>, size_of<V>>;
        // From here on every number is an integer; adding it rounds to one.
        constexpr ElementOf<V> integer = holds_doubles<V> ? 0x1p52 : 0x1p23f;
        const Bits sign = std::bit_cast<Bits>(x) & sign_bit<ElementOf<V>>;
        const V magnitude = std::bit_cast<V>(std::bit_cast<Bits>(x) ^ sign);
        const V nearest =
            std::bit_cast<V>(std::bit_cast<Bits>((magnitude + integer) - integer) | sign);
        const V below = nearest > x ? nearest - 1 : nearest;
        return magnitude < integer ? below : x;
    }
}

/// Bit i is the sign of element i: a mask (each element all ones or all zeros) as an integer.
template <class V>
EDDY_INLINE inline std::uint32_t sign_bits(V mask) {
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64) {
        const __m512i bits = std::bit_cast<__m512i>(mask);
        if constexpr (size_of<V> == 8)
            return _mm512_cmplt_epi64_mask(bits, _mm512_setzero_si512());
        else
            return _mm512_cmplt_epi32_mask(bits, _mm512_setzero_si512());
    } else
#endif
#if defined(__AVX__)
        if constexpr (sizeof(V) == 32) {
        if constexpr (size_of<V> == 4)
            return static_cast<std::uint32_t>(_mm256_movemask_pd(std::bit_cast<__m256d>(mask)));
        else
            return static_cast<std::uint32_t>(_mm256_movemask_ps(std::bit_cast<__m256>(mask)));
    } else
#endif
#if defined(__SSE2__)
        if constexpr (sizeof(V) == 16) {
        if constexpr (size_of<V> == 2)
            return static_cast<std::uint32_t>(_mm_movemask_pd(std::bit_cast<__m128d>(mask)));
        else
            return static_cast<std::uint32_t>(_mm_movemask_ps(std::bit_cast<__m128>(mask)));
    } else
#endif
    {
        std::uint32_t bits = 0;
        for (int i = 0; i < size_of<V>; ++i) bits |= (mask[i] < 0 ? 1u : 0u) << i;
        return bits;
    }
}

/// The 64-bit products of the low halves of 64-bit elements; the high halves are not read.
template <class V>
EDDY_INLINE inline V multiply_low_halves(V a, V b) {
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64)
        return std::bit_cast<V>(
            _mm512_maskz_mul_epu32(0xff, std::bit_cast<__m512i>(a), std::bit_cast<__m512i>(b)));
    else
#endif
#if defined(__AVX2__)
        if constexpr (sizeof(V) == 32)
        return std::bit_cast<V>(
            _mm256_mul_epu32(std::bit_cast<__m256i>(a), std::bit_cast<__m256i>(b)));
    else
#endif
#if defined(__SSE2__)
        if constexpr (sizeof(V) == 16)
        return std::bit_cast<V>(
            _mm_mul_epu32(std::bit_cast<__m128i>(a), std::bit_cast<__m128i>(b)));
    else
#endif
        return (a & 0xffffffff) * (b & 0xffffffff);
}

/// Each element converted to the element of `To`, which has as many.
template <class To, class V>
EDDY_INLINE inline To convert(V v) {
    static_assert(size_of<To> == size_of<V>);
#if defined(__AVX512F__)
    // g++ 12 widens in two halves where one instruction does it.
    if constexpr (sizeof(To) == 64 && holds_doubles<To> && std::is_same_v<ElementOf<V>, float>)
        return _mm512_maskz_cvtps_pd(0xff, v);
    else
#endif
#if defined(__AVX__)
        if constexpr (sizeof(To) == 32 && holds_doubles<To> && std::is_same_v<ElementOf<V>, float>)
        return _mm256_cvtps_pd(v);
    else
#endif
        return __builtin_convertvector(v, To);
}

// The index lists below are written out: nvcc does not pass a parameter pack on to this builtin.

/// Elements first, first + 1, … of `v`, wrapping around, as a vector of `size`.
template <int size, int first, class V>
EDDY_INLINE inline Vector<ElementOf<V>, size> slice(V v) {
    constexpr int f = first, wrap = size_of<V> - 1;
    static_assert(size == size_of<V> || size == 2 || size == 4 || size == 8);
    if constexpr (size == size_of<V>)
        return v;
    else if constexpr (size == 2)
        return __builtin_shufflevector(v, v, f, (f + 1) & wrap);
    else if constexpr (size == 4)
        return __builtin_shufflevector(v, v, f, (f + 1) & wrap, (f + 2) & wrap, (f + 3) & wrap);
    else
        return __builtin_shufflevector(v, v, f, f + 1, f + 2, f + 3, f + 4, f + 5, f + 6, f + 7);
}

/// The elements of `a`, then those of `b`.
template <class V>
EDDY_INLINE inline Vector<ElementOf<V>, 2 * size_of<V>> concatenate(V a, V b) {
    if constexpr (size_of<V> == 2)
        return __builtin_shufflevector(a, b, 0, 1, 2, 3);
    else if constexpr (size_of<V> == 4)
        return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
    else
        return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

}  // namespace eddy::inline v0::simd
