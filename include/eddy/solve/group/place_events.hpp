#pragma once
// What an event at the end of a round means for the lanes in a chain's places: it is recorded, and the lane
// goes on from its new state, or saves its end where it is.
// Test: tests/solve/event_oracle.cpp

#include <eddy/solve/group/place_changes.hpp>
#include <eddy/solve/lane/ending.hpp>
#include <eddy/solve/lane/saving.hpp>

namespace eddy::inline v0::detail {

/// Does the round end with an event in some place?
template <class Spec>
[[nodiscard]] EDDY_INLINE EDDY_HD inline bool meets_events(const Attempt<Spec>& attempt) {
    if constexpr (Spec::has_event)
        return any(attempt.used < typename Spec::Time(0));
    else
        return false;
}

/// `events` are those of the group's lanes. A place where the event's function is no number is broken.
template <class Spec, class Recorder>
EDDY_HD void pass_events(const RoundOfChain<Spec>& round, LaneSaves<Spec, Recorder>& saves,
                         LaneEvents* events, BrokenSaves<Spec::num_places>& broken,
                         PlaceChanges<Spec>& changes) {
    if constexpr (Spec::has_event) {
        const Chain<Spec>& chain = round.chain;
        const ChainState<Spec>& x = round.after;
        for (int place = 0; place < Spec::num_places; ++place) {
            const std::int32_t lane = chain.occupants[place].lane;
            if (lane == no_lane || !(get_lane(round.attempt.used, place) < 0)) continue;
            if (broken.is_broken[place]) continue;
            const double t = chain.steps.time_of(x.elapsed, place);
            if (is_lost(x.events.side, place)) {
                broken.is_broken[place] = true;
                broken.result[place] = Result::non_finite;
                broken.component[place] = -1;
                broken.t[place] = t;
                continue;
            }
            events[lane] = {events[lane].count + 1, t, event_of(round.attempt, place)};
            if (ends_at_event(round.attempt, place))
                saves.save_at_event(chain, round.before, round.attempt, x, t, place, broken);
            else
                changes.begins_anew(place);
        }
    }
}

}  // namespace eddy::inline v0::detail
