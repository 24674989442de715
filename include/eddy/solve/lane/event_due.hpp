#pragma once
// The events of time in a Number's places: when they are due, and what an attempt makes of it. The functions
// themselves are not asked in steps: on their sides of zero nothing depends, which the search for the others takes for
// one that never changes.
// Test: tests/solve/timed_events.cpp

#include <eddy/solve/lane/event_sides.hpp>
#include <eddy/solve/lane/event_times.hpp>
#include <eddy/solve/lane/tried_step.hpp>

namespace eddy::inline v0::detail {

/// The parameters of one place.
template <class Parameters>
struct OwnParameters {
    const Parameters& p;
    int place;
    [[nodiscard]] EDDY_HD auto operator[](int i) const { return get_lane(primal(p[i]), place); }
};

/// Of equations without events of time: steps end where they would, and nothing is due.
template <class Spec>
struct EventDue {
    using Time = typename Spec::Time;
    using Search = EventSearch<Spec>;

    EDDY_HD static void begin(Search&, int, const Problem<Spec>&, LaunchLane) {}
    EDDY_HD static void clear(Search&, int) {}
    [[nodiscard]] EDDY_INLINE EDDY_HD static const Time& left_from(const ChainState<Spec>&,
                                                                   const Time& to_tstop) {
        return to_tstop;
    }
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto cut(const ChainState<Spec>&,
                                                      const Attempt<Spec>& attempt, const auto&) {
        return attempt.lands;
    }
    [[nodiscard]] EDDY_INLINE EDDY_HD static MaskOf<Time> ends_of(const ChainState<Spec>&,
                                                                  const Attempt<Spec>&) {
        return MaskOf<Time>(false);
    }
    [[nodiscard]] EDDY_HD static std::uint32_t met(const Search&, int) { return 0; }
    EDDY_HD static void renew(const auto&, const auto&, const Attempt<Spec>&,
                              const AfterAttempt<Spec>&) {}
};

template <class Spec>
requires Spec::has_timed_events struct EventDue<Spec> {
    using Field = typename Spec::Field;
    using Time = typename Spec::Time;
    using Search = EventSearch<Spec>;

    /// Finds the due times of a lane that begins in a place.
    EDDY_HD static void begin(Search& search, int place, const Problem<Spec>& problem,
                              LaunchLane lane) {
        const LaneParameters<Spec> p{&problem, lane};
        const EventTimes<Field, LaneParameters<Spec>> events(problem.times_of(lane), p);
        for_timed([&]<int i>() { put<i>(search, place, events.template first<i>()); });
        find_soonest(search, place);
    }
    /// Clears the due times of an empty place.
    EDDY_HD static void clear(Search& search, int place) {
        for_timed(
            [&]<int i>() { put<i>(search, place, -std::numeric_limits<double>::infinity()); });
        find_soonest(search, place);
    }
    /// What is left to the soonest, or to the tstop.
    [[nodiscard]] EDDY_INLINE EDDY_HD static Time left_from(const ChainState<Spec>& x,
                                                            const Time& to_tstop) {
        return min(to_tstop, x.events.due.soonest - x.elapsed);
    }
    /// Where may an attempt have been cut short for the tstop or for an event?
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto cut(const ChainState<Spec>& x,
                                                      const Attempt<Spec>& attempt,
                                                      const auto& dt_max) {
        return attempt.lands | (attempt.size < min(x.size, Time(dt_max)));
    }
    /// Where does an attempt end with the soonest?
    [[nodiscard]] EDDY_INLINE EDDY_HD static MaskOf<Time> ends_of(const ChainState<Spec>& x,
                                                                  const Attempt<Spec>& attempt) {
        return attempt.size == x.events.due.soonest - x.elapsed;
    }
    /// Which timed events a place meets, a bit for each, where steps end with the soonest.
    [[nodiscard]] EDDY_HD static std::uint32_t met(const Search& search, int place) {
        std::uint32_t met = 0;
        for_timed([&]<int i>() {
            if (get_lane(search.due.of.data[i], place) == get_lane(search.due.soonest, place))
                met |= std::uint32_t{1} << i;
        });
        return met;
    }
    /// Renews the due times after an attempt from x, in the places that it has moved: those of times_of(place).
    template <class Parameters>
    EDDY_HD static void renew(const Parameters& p, const auto& times_of, Attempt<Spec>& attempt,
                              AfterAttempt<Spec>& after) {
        for (int place = 0; place < Spec::num_places; ++place) {
            const double used = get_lane(attempt.used, place);
            const double elapsed = get_lane(after.elapsed, place);
            const LaneTimes times = times_of(place);
            if (used == 0 || !(elapsed < times.span) || ends_at_event(attempt, place)) continue;
            const OwnParameters<Parameters> own{p, place};
            const EventTimes<Field, OwnParameters<Parameters>> events(times, own);
            for_timed([&]<int i>() {
                const bool is_met = used < 0 && event_of(attempt, place) == i;
                put<i>(after.events, place,
                       events.template renewed<i>(get_lane(after.events.due.of.data[i], place),
                                                  elapsed, is_met));
            });
            find_soonest(after.events, place);
            if (used > 0 && is_lost(after.events.side, place)) set_lane(attempt.used, place, -used);
        }
    }

  private:
    template <class Visit>
    EDDY_HD static void for_timed(Visit&& visit) {
        static_for<0, Spec::num_events>([&]<int i>() {
            if constexpr (is_timed_event<Field, i>) visit.template operator()<i>();
        });
    }
    template <int i>
    EDDY_HD static void put(Search& search, int place, DueTime due) {
        set_lane(search.due.of.data[i], place, due);
    }
    /// The soonest; a function that is no number is told as those of the state are.
    EDDY_HD static void find_soonest(Search& search, int place) {
        double soonest = std::numeric_limits<double>::infinity();
        for_timed([&]<int i>() {
            const double due = get_lane(search.due.of.data[i], place);
            soonest = min(soonest, abs(due));
            if (!(due == due))
                set_lane(search.side.data[0], place, std::numeric_limits<double>::quiet_NaN());
        });
        set_lane(search.due.soonest, place, soonest);
    }
};

}  // namespace eddy::inline v0::detail
