#pragma once
// A component of a vector whose number is computed: on a pack, another one for each lane.
// Test: tests/trace/loops.cpp

#include <eddy/core/lanes.hpp>
#include <eddy/core/numeric.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// Bounds of values, of which no comparison decides.
template <class Real>
concept is_bounds = requires {
    Real::line();
};

/// Component floor(index) of a vector that value(k) reads; NaN where there is none.
template <int length, class Index, class Value>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr auto component_at(const Index& index, Value value) {
    using Component = std::remove_cvref_t<decltype(value(0))>;
    [[maybe_unused]] constexpr auto nan = std::numeric_limits<ScalarOf<Component>>::quiet_NaN();
    const auto is_there = [](auto i) EDDY_INLINE { return 0 <= i && i < length; };
    if constexpr (is_bounds<Index>) {
        return Component(Index::line());
    } else if constexpr (num_lanes_of<Index> == 1) {
        return is_there(index) ? value(static_cast<int>(index)) : Component(nan);
    } else {
        Component result(nan);
        for (int lane = 0; lane < num_lanes_of<Index>; ++lane) {
            const auto of_lane = get_lane(index, lane);
            if (is_there(of_lane))
                set_lane(result, lane, get_lane(value(static_cast<int>(of_lane)), lane));
        }
        return result;
    }
}

}  // namespace eddy::inline v0::detail
