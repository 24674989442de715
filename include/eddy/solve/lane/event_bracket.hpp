#pragma once
// What the loop's state keeps of a search in one place: the bracket, and which of several functions it follows.
// Test: tests/solve/event_oracle.cpp, tests/solve/several_events.cpp

#include <cstdint>
#include <eddy/solve/lane/chain_state.hpp>

namespace eddy::inline v0::detail {

/// The functions that the bracket of one place knows of: which of several it follows, and which are
/// beyond their roots.
template <int num_events>
struct LeadingEvent {
    int leader = 0;
    std::uint32_t met = 0;  // a bit for each
    bool at_zero = true;    // all of them

    [[nodiscard]] EDDY_HD bool has(int i) const { return (met >> i & 1) != 0; }
    [[nodiscard]] EDDY_HD int first() const {
        int i = 0;
        while (i + 1 < num_events && !has(i)) ++i;
        return i;
    }
};

template <class Spec>
[[nodiscard]] EDDY_HD RootBracket bracket_of(const EventSearch<Spec>& search, int place) {
    return {get_lane(search.low, place),   get_lane(search.high, place),
            get_lane(search.g_low, place), get_lane(search.g_high, place),
            get_lane(search.tries, place), get_lane(search.moved, place)};
}
template <class Spec>
EDDY_HD void put_bracket(EventSearch<Spec>& search, int place, const RootBracket& bracket) {
    set_lane(search.low, place, bracket.low);
    set_lane(search.high, place, bracket.high);
    set_lane(search.g_low, place, bracket.g_low);
    set_lane(search.g_high, place, bracket.g_high);
    set_lane(search.tries, place, bracket.tries);
    set_lane(search.moved, place, bracket.moved);
}
template <class Spec>
[[nodiscard]] EDDY_HD LeadingEvent<Spec::num_events> get_leading(const EventSearch<Spec>& search,
                                                                 int place) {
    if constexpr (Spec::has_several_events)
        return {static_cast<int>(get_lane(search.leading.leader, place)),
                static_cast<std::uint32_t>(get_lane(search.leading.met, place))};
    else
        return {0, 1};
}
template <class Spec>
EDDY_HD void put_leading([[maybe_unused]] EventSearch<Spec>& search, [[maybe_unused]] int place,
                         const LeadingEvent<Spec::num_events>& leading) {
    if constexpr (Spec::has_several_events) {
        set_lane(search.leading.leader, place, static_cast<double>(leading.leader));
        set_lane(search.leading.met, place, static_cast<double>(leading.met));
    }
}

}  // namespace eddy::inline v0::detail
