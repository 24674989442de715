#pragma once
// The lanes of dual numbers: those of their parts.
// Test: tests/device/lanes.cu

#include <eddy/ad/dual.hpp>
#include <eddy/core/lanes.hpp>

namespace eddy::inline v0 {

template <class T>
inline constexpr int num_lanes_of<Dual<T>> = num_lanes_of<T>;

namespace detail {

template <class T>
struct LaneType<Dual<T>> {
    using type = Dual<LaneOf<T>>;
};

}  // namespace detail

}  // namespace eddy::inline v0
