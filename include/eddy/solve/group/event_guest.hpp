#pragma once
// The guest that looks after events: what one at the end of a round means for the lanes in a chain's places. It is recorded, and the
// lane goes on from its new state, or saves its end where it is. Finding an event is a matter of attempts (lane/event_attempt.hpp).
// Test: tests/solve/event_oracle.cpp

#include <eddy/solve/group/round_guests.hpp>
#include <eddy/solve/lane/event_attempt.hpp>

namespace eddy::inline v0::detail {

template <class Spec>
struct EventGuest : Guest<EventGuest<Spec>> {
    /// Does the round end with an event in some place?
    [[nodiscard]] EDDY_INLINE EDDY_HD static bool sees(const auto&, const auto&,
                                                       const Attempt<Spec>& attempt) {
        return any(attempt.used < typename Spec::Time(0));
    }
    EDDY_HD static void start(ChainState<Spec>& x, int place, const Problem<Spec>& problem,
                              LaunchLane lane, const typename Spec::LaneState& y0) {
        EventSeeker<Spec>::begin(x.events, place, problem, lane, y0);
    }
    EDDY_HD static void go_on(ChainState<Spec>& x, int place, const Problem<Spec>& problem,
                              LaunchLane lane, std::int32_t tstop) {
        using Seeker = EventSeeker<Spec>;
        const typename Spec::LaneState y = state_of<Spec>(x.y, place);
        Seeker::go_on(x.events, place, Seeker::sides_at(problem, lane, tstop, y));
    }
    EDDY_HD static void clear(ChainState<Spec>& x, int place) {
        EventSeeker<Spec>::begin(x.events, place, {});
    }
    /// A place where the event's function is no number is broken.
    EDDY_HD static void mean(const auto& at, const RoundOfChain<Spec>& round, auto& meaning,
                             auto& all) {
        const auto& [chain, before, attempt, x] = round;
        for (int place = 0; place < Spec::num_places; ++place) {
            const std::int32_t lane = chain.occupants[place].lane;
            if (lane == no_lane || !(get_lane(attempt.used, place) < 0)) continue;
            if (meaning.broken.is_broken[place]) continue;
            const double t = chain.steps.time_of(x.elapsed, place);
            if (is_lost(x.events.side, place)) {
                meaning.broken.add(place, Result::non_finite, -1, t);
                continue;
            }
            LaneEvents& events = at.memory.events[lane];
            events = {events.count + 1, t, event_of(attempt, place)};
            if (ends_at_event(attempt, place))
                all.save_at_event(round, t, place, meaning.broken);
            else
                meaning.changes.begins_anew(place);
        }
    }
    EDDY_HD static void judge(const auto&, const Attempt<Spec>& attempt, int place,
                              RoundFacts& facts) {
        facts.ends = ends_at_event(attempt, place);
    }
    EDDY_HD static void leave(const auto& at, int place, LaneOutcome& outcome) {
        outcome.evaluations +=
            evaluations_of_events<Spec>(at.memory.events[at.chain.occupants[place].lane].count,
                                        outcome.result == Result::event);
    }
};

}  // namespace eddy::inline v0::detail
