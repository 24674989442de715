#pragma once
// What an attempted step of all places of a Number leaves: the attempt itself with what was thought of
// it, and the state that it leads to.
// Test: tests/solve/oracle.cpp, tests/solve/event_oracle.cpp

#include <eddy/solve/lane/chain_state.hpp>

namespace eddy::inline v0::detail {

/// An attempt of all places of a Number: what was tried, and what was thought of it.
template <class Spec>
struct Attempt {
    /// The event to which `used` has led, of several functions.
    [[no_unique_address]] KeptIf<Spec::has_several_events, typename Spec::Time> event;
    [[no_unique_address]] ClockTangent<Spec> by;  // of dt
    typename Spec::Time size;                     // |dt| that was tried
    MaskOf<typename Spec::Time> lands;            // on the tstop
    typename Spec::Stepper::template Trial<typename Spec::Number> trial;
    typename Spec::Time used;  // size where it was accepted, negative if to an event, else zero
    MaskOf<typename Spec::Primal> accepted;
    MaskOf<typename Spec::Time> stalled;  // rejected, and as small as a step may be; or not finite
};

/// The number of the function whose event a place has met.
template <class Spec>
[[nodiscard]] EDDY_HD int event_of(const Attempt<Spec>& attempt, int place) {
    return static_cast<int>(get_lane(attempt.event, place));
}
/// Has the lane in a place ended with the round, at an event?
template <class Spec, class Meets, class Events>
[[nodiscard]] EDDY_HD bool ends_lane(const Meets& meets, const Events& events, int place) {
    return Spec::has_end && get_lane(meets, place) &&
           is_terminal_at<typename Spec::Field>(static_cast<int>(get_lane(events, place)));
}
template <class Spec>
[[nodiscard]] EDDY_HD bool ends_at_event(const Attempt<Spec>& attempt, int place) {
    return ends_lane<Spec>(attempt.used < typename Spec::Time(0), attempt.event, place);
}
/// What the log keeps of an attempt.
template <class Spec>
[[nodiscard]] EDDY_INLINE EDDY_HD inline typename Spec::Used used_by(const Attempt<Spec>& attempt) {
    if constexpr (Spec::has_several_events)
        return {attempt.used, attempt.event};
    else
        return attempt.used;
}

/// The state to which an attempt leads, without the stepper's memory, and without y where an event may
/// change it.
template <class Spec>
struct AfterAttempt {
    [[no_unique_address]] EventSearch<Spec> events;
    [[no_unique_address]] KeptIf<Spec::has_event, typename Spec::State> y;
    typename Spec::Time elapsed, size;
    typename Spec::History history;
};

}  // namespace eddy::inline v0::detail
