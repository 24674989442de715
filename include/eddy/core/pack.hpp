#pragma once
// A pack holds one number per lane and computes on all lanes at once: an array of native vectors,
// as many as the lanes need, so that a wide pack also hides latency. A pack narrower than 16 bytes
// sits in one 16-byte vector whose other elements mean nothing. Invariant: a lane's result is that
// of the scalar operation, bit for bit, whatever its neighbours and the width. docs/design/packs.md
// says why these are the compiler's vector types, and what NaN does in min and max.
// Test: tests/core/pack.cpp

#include <bit>
#include <cstddef>
#include <cstring>
#include <eddy/core/mask.hpp>
#include <limits>
#include <type_traits>

namespace eddy::inline v0 {

/// A SIMD vector with one `Element` for each trajectory: float or double, or the unsigned integer
/// of that width for work on their bits.
template <class Element, int lanes>
struct Pack {
    using value_type = Element;
    using Layout = simd::Layout<Element, lanes>;
    using Part = typename Layout::Part;
    using LaneMask = Mask<simd::RealOf<Element>, lanes>;
    static constexpr int size = lanes;
    static constexpr int num_parts = Layout::num_parts;
    static constexpr int part_lanes = Layout::part_lanes;

    Part part[num_parts];

    Pack() = default;
    /// The same value in every lane.
    EDDY_INLINE Pack(Element value) {
        part[0] = value - Part{};  // value + 0 would lose the sign of −0
        for (int i = 1; i < num_parts; ++i) part[i] = part[0];
    }
    [[nodiscard]] static Pack from_part(Part only_part) requires(num_parts == 1) {
        Pack result;
        result.part[0] = only_part;
        return result;
    }
    /// Each lane converted: exactly to the wider type, rounded to nearest to the narrower.
    template <class Other>
    explicit Pack(const Pack<Other, lanes>& other);

    /// `lanes` contiguous elements; no alignment is asked for.
    [[nodiscard]] static Pack load(const Element* source) {
        if constexpr (lanes < part_lanes) return load_first(source, lanes);
        // One copy per vector: g++ would take a copy of several through memory, in pieces that are
        // slow to read back.
        Pack result;
        simd::for_parts<num_parts>([&]<int i>() EDDY_INLINE {
            Part loaded;
            std::memcpy(&loaded, source + i * part_lanes, sizeof(Part));
            result.part[i] = loaded;
        });
        return result;
    }
    /// The first `count` lanes from memory, zero in the others; reads nothing beyond them.
    [[nodiscard]] static Pack load_first(const Element* source, int count) {
        Pack result(Element{});
        if (count > 0)  // with none to load, `source` may be null
            std::memcpy(result.part, source, sizeof(Element) * static_cast<std::size_t>(count));
        return result;
    }
    /// Lane i from `source[i * stride]`, for the first `count` lanes; zero in the others.
    [[nodiscard]] static Pack load_strided(const Element* source, std::ptrdiff_t stride,
                                           int count = lanes) {
        Pack result(Element{});
        for (int lane = 0; lane < count; ++lane) result.set(lane, source[lane * stride]);
        return result;
    }
    void store(Element* target) const {
        if constexpr (lanes < part_lanes) return store_first(target, lanes);
        simd::for_parts<num_parts>([&]<int i>() EDDY_INLINE {
            const Part stored = part[i];
            std::memcpy(target + i * part_lanes, &stored, sizeof(Part));
        });
    }
    /// Writes the first `count` lanes and nothing beyond them.
    void store_first(Element* target, int count) const {
        if (count > 0) std::memcpy(target, part, sizeof(Element) * static_cast<std::size_t>(count));
    }
    /// Lane i to `target[i * stride]`, for the first `count` lanes.
    void store_strided(Element* target, std::ptrdiff_t stride, int count = lanes) const {
        for (int lane = 0; lane < count; ++lane) target[lane * stride] = (*this)[lane];
    }

    [[nodiscard]] Element operator[](int lane) const {
        return part[lane / part_lanes][lane % part_lanes];
    }
    void set(int lane, Element value) { part[lane / part_lanes][lane % part_lanes] = value; }

// A pack of one vector, as most are, has nothing between its operator and that of the vector: what
// every equation is full of is a call to inline each time.
#define EDDY_PACK_OPERATOR(Answer, operation)                                                  \
    EDDY_INLINE friend Answer operator operation(const Pack& a, const Pack& b) {               \
        Answer result;                                                                         \
        if constexpr (num_parts == 1) {                                                        \
            result.part[0] = a.part[0] operation b.part[0];                                    \
        } else {                                                                               \
            simd::for_parts<num_parts>(                                                        \
                [&]<int i>() EDDY_INLINE { result.part[i] = a.part[i] operation b.part[i]; }); \
        }                                                                                      \
        return result;                                                                         \
    }
    EDDY_PACK_OPERATOR(Pack, +)
    EDDY_PACK_OPERATOR(Pack, -)
    EDDY_PACK_OPERATOR(Pack, *)
    EDDY_PACK_OPERATOR(Pack, /)
    EDDY_PACK_OPERATOR(LaneMask, <)
    EDDY_PACK_OPERATOR(LaneMask, <=)
    EDDY_PACK_OPERATOR(LaneMask, >)
    EDDY_PACK_OPERATOR(LaneMask, >=)
    EDDY_PACK_OPERATOR(LaneMask, ==)
    EDDY_PACK_OPERATOR(LaneMask, !=)
#undef EDDY_PACK_OPERATOR
    EDDY_INLINE friend Pack operator-(const Pack& a) {
        return simd::map_parts<Pack>([](Part x) EDDY_INLINE { return -x; }, a);
    }
    EDDY_INLINE friend Pack operator+(const Pack& a) { return a; }
    Pack& operator+=(const Pack& other) { return *this = *this + other; }
    Pack& operator-=(const Pack& other) { return *this = *this - other; }
    Pack& operator*=(const Pack& other) { return *this = *this * other; }
    Pack& operator/=(const Pack& other) { return *this = *this / other; }

    EDDY_INLINE friend Pack operator&(const Pack& a,
                                      const Pack& b) requires std::is_integral_v<Element> {
        return simd::map_parts<Pack>([](Part x, Part y) EDDY_INLINE { return x & y; }, a, b);
    }
    EDDY_INLINE friend Pack operator|(const Pack& a,
                                      const Pack& b) requires std::is_integral_v<Element> {
        return simd::map_parts<Pack>([](Part x, Part y) EDDY_INLINE { return x | y; }, a, b);
    }
    EDDY_INLINE friend Pack operator^(const Pack& a,
                                      const Pack& b) requires std::is_integral_v<Element> {
        return simd::map_parts<Pack>([](Part x, Part y) EDDY_INLINE { return x ^ y; }, a, b);
    }
    /// Shifted towards the high end.
    EDDY_INLINE friend Pack operator<<(const Pack& a,
                                       int count) requires std::is_integral_v<Element> {
        return simd::map_parts<Pack>([count](Part x) EDDY_INLINE { return x << count; }, a);
    }
    /// Shifted towards the low end.
    EDDY_INLINE friend Pack operator>>(const Pack& a,
                                       int count) requires std::is_integral_v<Element> {
        return simd::map_parts<Pack>([count](Part x) EDDY_INLINE { return x >> count; }, a);
    }

    EDDY_INLINE friend Pack select(const LaneMask& mask, const Pack& if_true,
                                   const Pack& if_false) {
        return simd::map_parts<Pack>([](typename LaneMask::Part m, Part x, Part y)
                                         EDDY_INLINE { return m ? x : y; },
                                     mask, if_true, if_false);
    }
    /// `b < a ? b : a`: the first argument where either is NaN or both are zeros.
    EDDY_INLINE friend Pack min(const Pack& a, const Pack& b) {
        return simd::map_parts<Pack>([](Part x, Part y) EDDY_INLINE { return simd::lesser(y, x); },
                                     a, b);
    }
    /// `a < b ? b : a`: the first argument where either is NaN or both are zeros.
    EDDY_INLINE friend Pack max(const Pack& a, const Pack& b) {
        return simd::map_parts<Pack>([](Part x, Part y) EDDY_INLINE { return simd::greater(y, x); },
                                     a, b);
    }

    /// a·b + c rounded once; a library call per lane where the target has no such instruction.
    EDDY_INLINE friend Pack fma(const Pack& a, const Pack& b,
                                const Pack& c) requires std::is_floating_point_v<Element> {
        return simd::map_parts<Pack>([](Part x, Part y, Part z)
                                         EDDY_INLINE { return simd::fused_multiply_add(x, y, z); },
                                     a, b, c);
    }
    /// a·b + c as the target does it fastest: fused where it has the instruction, else rounded
    /// twice.
    EDDY_INLINE friend Pack mul_add(const Pack& a, const Pack& b,
                                    const Pack& c) requires std::is_floating_point_v<Element> {
        if constexpr (simd::has_fma) {
            return fma(a, b, c);
        } else if constexpr (num_parts == 1) {
            Pack result;
            result.part[0] = a.part[0] * b.part[0] + c.part[0];
            return result;
        } else {
            return a * b + c;
        }
    }
    EDDY_INLINE friend Pack sqrt(const Pack& a) requires std::is_floating_point_v<Element> {
        return simd::map_parts<Pack>([](Part x) EDDY_INLINE { return simd::square_root(x); }, a);
    }
    EDDY_INLINE friend Pack floor(const Pack& a) requires std::is_floating_point_v<Element> {
        return simd::map_parts<Pack>([](Part x) EDDY_INLINE { return simd::round_down(x); }, a);
    }
    EDDY_INLINE friend Pack abs(const Pack& a) requires std::is_floating_point_v<Element> {
        return from_bits(bits(a) & ~simd::sign_bit<Element>);
    }
    EDDY_INLINE friend Pack copysign(const Pack& magnitude,
                                     const Pack& sign) requires std::is_floating_point_v<Element> {
        return from_bits(bits(abs(magnitude)) | (bits(sign) & simd::sign_bit<Element>));
    }
};

/// Integers of the reals' bits, and back.
template <class Real, int lanes>
[[nodiscard]] EDDY_INLINE inline auto bits(const Pack<Real, lanes>& x) {
    using Integers = Pack<simd::BitsOf<Real>, lanes>;
    return simd::map_parts<Integers>(
        [](typename Pack<Real, lanes>::Part p)
            EDDY_INLINE { return std::bit_cast<typename Integers::Part>(p); },
        x);
}
template <class Integer, int lanes>
[[nodiscard]] EDDY_INLINE inline auto from_bits(const Pack<Integer, lanes>& x) {
    using Reals = Pack<simd::RealOf<Integer>, lanes>;
    return simd::map_parts<Reals>(
        [](typename Pack<Integer, lanes>::Part p)
            EDDY_INLINE { return std::bit_cast<typename Reals::Part>(p); },
        x);
}

template <class Element, int lanes>
template <class Other>
EDDY_INLINE inline Pack<Element, lanes>::Pack(const Pack<Other, lanes>& other) {
    using Source = Pack<Other, lanes>;
    if constexpr (std::is_same_v<Element, Other>) {
        *this = other;
    } else if constexpr (num_parts > Source::num_parts) {
        // One part of floats fills two of doubles.
        simd::for_parts<num_parts>([&]<int i>() EDDY_INLINE {
            part[i] = simd::convert<Part>(
                simd::slice<part_lanes, (i % 2) * part_lanes>(other.part[i / 2]));
        });
    } else if constexpr (num_parts < Source::num_parts) {
        using Half = simd::Vector<Element, Source::part_lanes>;
        simd::for_parts<num_parts>([&]<int i>() EDDY_INLINE {
            part[i] = simd::concatenate(simd::convert<Half>(other.part[2 * i]),
                                        simd::convert<Half>(other.part[2 * i + 1]));
        });
    } else {
        // As many parts, of equal size or with unused elements on one side.
        constexpr int common = std::min(part_lanes, Source::part_lanes);
        using Common = simd::Vector<Element, common>;
        simd::for_parts<num_parts>([&]<int i>() EDDY_INLINE {
            part[i] = simd::slice<part_lanes, 0>(
                simd::convert<Common>(simd::slice<common, 0>(other.part[i])));
        });
    }
}

/// The lanes of two packs in one of twice as many; and two packs from it. Of packs that fill their vectors.
template <class Element, int lanes>
[[nodiscard]] EDDY_INLINE inline Pack<Element, 2 * lanes> joined(const Pack<Element, lanes>& low,
                                                                 const Pack<Element, lanes>& high) {
    using Both = Pack<Element, 2 * lanes>;
    constexpr int parts = Pack<Element, lanes>::num_parts;
    static_assert(Pack<Element, lanes>::part_lanes <= lanes);
    Both both;
    if constexpr (Both::num_parts == parts) {
        both.part[0] = simd::concatenate(low.part[0], high.part[0]);
    } else {
        simd::for_parts<parts>([&]<int i>() EDDY_INLINE {
            both.part[i] = low.part[i];
            both.part[parts + i] = high.part[i];
        });
    }
    return both;
}
template <class Element, int lanes>
EDDY_INLINE inline void divide(const Pack<Element, 2 * lanes>& both, Pack<Element, lanes>& low,
                               Pack<Element, lanes>& high) {
    constexpr int parts = Pack<Element, lanes>::num_parts;
    static_assert(Pack<Element, lanes>::part_lanes <= lanes);
    if constexpr (Pack<Element, 2 * lanes>::num_parts == parts) {
        low.part[0] = simd::slice<lanes, 0>(both.part[0]);
        high.part[0] = simd::slice<lanes, lanes>(both.part[0]);
    } else {
        simd::for_parts<parts>([&]<int i>() EDDY_INLINE {
            low.part[i] = both.part[i];
            high.part[i] = both.part[parts + i];
        });
    }
}

/// The sum over the lanes: lane i and lane i + lanes/2 are added, then the halves of what is left,
/// down to one. The order depends on `lanes` alone, not on the target.
template <class Element, int lanes>
[[nodiscard]] Element sum(const Pack<Element, lanes>& pack) {
    Element left[lanes];
    pack.store(left);
    for (int half = lanes / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; ++lane) left[lane] += left[lane + half];
    return left[0];
}

}  // namespace eddy::inline v0
