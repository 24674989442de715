#pragma once
// Which lanes: the answer of a comparison of packs. The elements beyond the last lane mean nothing
// and are never asked.
// Test: tests/core/pack.cpp

#include <cstdint>
#include <eddy/core/simd/layout.hpp>

namespace eddy::inline v0 {

template <class Element, int lanes>
struct Pack;

/// A truth value per lane of a `Pack<Real, lanes>`. It is never a bool: ask `any`, `all` or `none`.
template <class Real, int lanes>
struct Mask {
    static constexpr int size = lanes;
    using Layout = simd::Layout<simd::MaskOf<Real>, lanes>;
    using Part = typename Layout::Part;
    static constexpr int num_parts = Layout::num_parts;
    static constexpr int part_lanes = Layout::part_lanes;

    Part part[num_parts];  // each element all ones (true) or all zeros (false)

    Mask() = default;
    EDDY_INLINE explicit Mask(bool value) {
        for (auto& p : part) p = Part{} - static_cast<simd::MaskOf<Real>>(value);
    }

    /// True in the lanes before `count`: what a tail of `count` lanes loads and stores.
    static Mask first(int count) {
        Mask mask;
        for (int lane = 0; lane < num_parts * part_lanes; ++lane) mask.set(lane, lane < count);
        return mask;
    }

    bool operator[](int lane) const { return part[lane / part_lanes][lane % part_lanes] != 0; }
    void set(int lane, bool value) { part[lane / part_lanes][lane % part_lanes] = value ? -1 : 0; }

    EDDY_INLINE friend Mask operator&(const Mask& a, const Mask& b) {
        return simd::map_parts<Mask>([](Part x, Part y) EDDY_INLINE { return x & y; }, a, b);
    }
    EDDY_INLINE friend Mask operator|(const Mask& a, const Mask& b) {
        return simd::map_parts<Mask>([](Part x, Part y) EDDY_INLINE { return x | y; }, a, b);
    }
    EDDY_INLINE friend Mask operator^(const Mask& a, const Mask& b) {
        return simd::map_parts<Mask>([](Part x, Part y) EDDY_INLINE { return x ^ y; }, a, b);
    }
    EDDY_INLINE friend Mask operator!(const Mask& a) {
        return simd::map_parts<Mask>([](Part x) EDDY_INLINE { return ~x; }, a);
    }

    /// The number of lanes that are true.
    friend int count(const Mask& mask) {
        int result = 0;
        simd::for_parts<num_parts>(
            [&]<int i>() EDDY_INLINE { result += __builtin_popcount(mask.template bits<i>()); });
        return result;
    }
    EDDY_INLINE friend bool any(const Mask& mask) {
        Part united{};
        simd::for_parts<num_parts>([&]<int i>() EDDY_INLINE { united |= mask.part[i]; });
        return (simd::sign_bits(united) & used_bits) != 0;
    }
    EDDY_INLINE friend bool none(const Mask& mask) { return !any(mask); }
    EDDY_INLINE friend bool all(const Mask& mask) { return !any(!mask); }

    /// Where both choices are scalars.
    EDDY_INLINE friend Pack<Real, lanes> select(const Mask& mask, Real if_true, Real if_false) {
        return select(mask, Pack<Real, lanes>(if_true), Pack<Real, lanes>(if_false));
    }

  private:
    static constexpr std::uint32_t used_bits = (1u << std::min(lanes, part_lanes)) - 1u;

    template <int i>
    std::uint32_t bits() const {
        return simd::sign_bits(part[i]) & used_bits;
    }
};

}  // namespace eddy::inline v0
