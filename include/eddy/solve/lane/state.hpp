#pragma once
// What the loops do with a state, or with a cotangent of one: six things by name, and copies. A state is a Number for each
// component; one kept elsewhere, in rows whose length is known at run time, would be a handle with the same six.
// Test: tests/solve/lanes.cpp, tests/solve/checkpoints.cpp

#include <cstddef>
#include <eddy/core/static_for.hpp>
#include <eddy/core/vec.hpp>

namespace eddy::inline v0::detail {

/// Loads the state of a lane into a place.
template <class Number, int size>
EDDY_HD void load_state(Vec<Number, size>& y, int place, const auto& of_lane) {
    for (int i = 0; i < size; ++i) set_lane(y[i], place, of_lane[i]);
}
/// The state in one place.
template <class Spec>
[[nodiscard]] EDDY_HD typename Spec::LaneState state_of(const typename Spec::State& y, int place) {
    typename Spec::LaneState state{};
    for (int i = 0; i < Spec::state_size; ++i) state[i] = get_lane(y[i], place);
    return state;
}
/// Adds a lane's seed to what is in its place.
template <class Number, int size>
EDDY_HD void add_state(Vec<Number, size>& y, int place, const auto& of_lane) {
    for (int i = 0; i < size; ++i) set_lane(y[i], place, get_lane(y[i], place) + of_lane[i]);
}
/// Moves to another state in the places of a mask.
template <class Number, int size>
EDDY_INLINE EDDY_HD inline void move_where(const auto& mask, const Vec<Number, size>& to,
                                           Vec<Number, size>& y) {
    for_components<size>([&](int i) EDDY_INLINE { y[i] = select(mask, to[i], y[i]); });
}
/// Calls visit(i, address) for the numbers of a slot, which lie `stride` apart: to write, read or fetch them.
template <int size>
EDDY_INLINE EDDY_HD inline void for_slot(auto* slot, std::ptrdiff_t stride, const auto& visit) {
    for_components<size>([&](int i) EDDY_INLINE { visit(i, slot + i * stride); });
}
/// Zero where all components are finite, NaN elsewhere; a sum that overflows counts as infinite.
template <class Time, class Number, int size>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Time finiteness(const Vec<Number, size>& y) {
    auto sum = primal(y[0]);
    for_components<size - 1>([&](int i) EDDY_INLINE { sum = sum + primal(y[i + 1]); });
    return convert<Time>(sum - sum);
}

}  // namespace eddy::inline v0::detail
