#pragma once
// The lanes of a scalar type: a number has one, a pack several, a dual number those of its parts.
// Code that works on a group of lanes reaches a single one through these functions alone.
// Test: tests/device/lanes.cu

#include <eddy/core/numeric.hpp>
#include <type_traits>

namespace eddy::inline v0 {

// Who computes on packs includes core/pack.hpp: most of it is instructions that a single lane does without.
template <class Real, int lanes>
struct Mask;

/// How many lanes a Number computes on.
template <class Number>
inline constexpr int num_lanes_of = 1;
template <class Element, int lanes>
inline constexpr int num_lanes_of<Pack<Element, lanes>> = lanes;

namespace detail {

template <class Number>
struct LaneType {
    using type = Number;
};
template <class Element, int lanes>
struct LaneType<Pack<Element, lanes>> {
    using type = Element;
};
template <class Number, class Element>
struct WithElement {
    using type = Element;
};
template <class Old, int lanes, class Element>
struct WithElement<Pack<Old, lanes>, Element> {
    using type = Pack<Element, lanes>;
};

}  // namespace detail

/// What one lane of a Number holds: double for Pack<double, 8>, Dual<double> for Dual of that pack.
template <class Number>
using LaneOf = typename detail::LaneType<Number>::type;

/// The same lanes of another floating-point type: Pack<float, 8> for Pack<double, 8>.
template <class Number, class Element>
using WithElement = typename detail::WithElement<Number, Element>::type;

template <class Number>
[[nodiscard]] EDDY_HD LaneOf<Number> get_lane(const Number& x, [[maybe_unused]] int lane) {
    if constexpr (requires { x.tangent; }) {
        return {get_lane(x.value, lane), get_lane(x.tangent, lane)};
    } else if constexpr (std::is_arithmetic_v<Number>) {
        return x;
    } else {
        return x[lane];
    }
}

template <class Number>
EDDY_HD void set_lane(Number& x, [[maybe_unused]] int lane, const LaneOf<Number>& value) {
    if constexpr (requires { x.tangent; }) {
        set_lane(x.value, lane, value.value);
        set_lane(x.tangent, lane, value.tangent);
    } else if constexpr (std::is_arithmetic_v<Number>) {
        x = value;
    } else {
        x.set(lane, value);
    }
}

[[nodiscard]] EDDY_HD inline bool get_lane(bool mask, int) { return mask; }
template <class Real, int lanes>
[[nodiscard]] bool get_lane(const Mask<Real, lanes>& mask, int lane) {
    return mask[lane];
}
EDDY_HD inline void set_lane(bool& mask, int, bool value) { mask = value; }
template <class Real, int lanes>
void set_lane(Mask<Real, lanes>& mask, int lane, bool value) {
    mask.set(lane, value);
}

// A single lane is asked as a mask is.
[[nodiscard]] EDDY_HD inline bool any(bool mask) { return mask; }
[[nodiscard]] EDDY_HD inline bool all(bool mask) { return mask; }

}  // namespace eddy::inline v0
