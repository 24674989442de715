#pragma once
// What a replay needs of the lanes of a team: the state that the checkpointed loop carries from round
// to round. A round is one attempted step of every place.
// Test: tests/solve/oracle.cpp, tests/solve/lanes.cpp

#include <eddy/solve/lane/solve_spec.hpp>
#include <eddy/solve/lane/state.hpp>
#include <eddy/steppers/root_bracket.hpp>

namespace eddy::inline v0::detail {

/// Which of several functions a bracket follows, and which were beyond their roots at its upper end: a sum
/// of 2^i.
template <class Time>
struct LeadingEvents {
    Time leader, met;
};

/// The tangents of times, and of sizes of steps, where events move them.
struct NoClock {};
template <class Spec>
using ClockTangent = std::conditional_t<Spec::moves_times, typename Spec::Primal, NoClock>;

/// When the events of time are due, as DueTime, and the soonest of them.
template <class Time, int count>
struct DueTimes {
    Vec<Time, count> of;
    Time soonest;
};

/// What is known of an event in each place: of none where the field has no events.
template <class Spec>
struct EventSearch {};
template <class Spec>
requires Spec::has_event struct EventSearch<Spec> {
    [[no_unique_address]] KeptIf<Spec::has_several_events, LeadingEvents<typename Spec::Time>>
        leading;  // of an open bracket
    [[no_unique_address]] KeptIf<Spec::has_timed_events,
                                 DueTimes<typename Spec::Time, Spec::num_events>>
        due;
    [[no_unique_address]] ClockTangent<Spec> clock;   // of t
    Vec<typename Spec::Time, Spec::num_events> side;  // g where it was not zero last; zero before
    typename Spec::Time uncut;                        // the size that was tried first
    typename Spec::Time low, high, g_low, g_high, tries, moved;  // of a bracket: RootBracket
};

/// The lanes of one Number: a chain of rounds, whose operations wait for each other. No class of text for
/// devices ends with a member that may be empty and has no address: nvcc 13.0 then takes the elements of an
/// array to lie twice as far apart as they do.
template <class Spec>
struct ChainState {
    [[no_unique_address]] EventSearch<Spec> events;
    [[no_unique_address]] typename Spec::Memory memory;
    typename Spec::State y;
    typename Spec::Time elapsed;  // |t − t0|
    typename Spec::Time size;     // |dt| that the next attempt begins with
    typename Spec::History history;
};

/// The places of a mask of times, as a mask of another type of number.
template <class Number, class Time>
[[nodiscard]] EDDY_INLINE EDDY_HD inline MaskOf<Number> places_of(const MaskOf<Time>& mask) {
    return convert<Number>(select(mask, Time(1), Time(0))) > Number(0);
}

/// The controller's history of one place.
template <class History>
[[nodiscard]] EDDY_HD ControllerHistory<float> history_of(const History& history, int place) {
    return {get_lane(history.previous_log2, place), get_lane(history.earlier_log2, place),
            get_lane(history.was_rejected, place)};
}
template <class History>
EDDY_HD void set_history(History& history, int place, const ControllerHistory<float>& to) {
    set_lane(history.previous_log2, place, to.previous_log2);
    set_lane(history.earlier_log2, place, to.earlier_log2);
    set_lane(history.was_rejected, place, to.was_rejected);
}

/// One T for each chain that a member of a team takes in turn; a copy copies those in use.
template <class T, int most>
struct PerChain {
    T chain[most];

    explicit PerChain(int count = 0) : count_(count) {}
    PerChain(const PerChain& other) { *this = other; }
    PerChain& operator=(const PerChain& other) {
        count_ = other.count_;
        for (int i = 0; i < count_; ++i) chain[i] = other.chain[i];
        return *this;
    }
    [[nodiscard]] int count() const { return count_; }

  private:
    int count_;
};
template <class T>
EDDY_HD inline void copy_parts(T& to, const T& from) {
    to = from;
}
/// Number by number: a copy of the whole would load two packs at once that have just been stored one by one, and wait for
/// both. A solve by Tsit5 takes 5 % less so (packs of 8).
template <class Real>
EDDY_INLINE EDDY_HD inline void copy_parts(ControllerHistory<Real>& to,
                                           const ControllerHistory<Real>& from) {
    to.previous_log2 = from.previous_log2;
    to.earlier_log2 = from.earlier_log2;
    to.was_rejected = from.was_rejected;
}
/// Number by number: a copy of the whole has its padding as well, which would be kept in registers.
template <class Spec>
EDDY_HD inline void copy_parts(ChainState<Spec>& to, const ChainState<Spec>& from) {
    to.y = from.y;
    to.elapsed = from.elapsed;
    to.size = from.size;
    copy_parts(to.history, from.history);
    to.memory = from.memory;
    if (Spec::has_event) to.events = from.events;
}
/// A single one: its index is known beforehand, so that registers need no address.
template <class T>
struct PerChain<T, 1> {
    T chain[1];

    EDDY_HD explicit PerChain(int = 1) {}
    EDDY_HD PerChain(const PerChain& other) { copy_parts(chain[0], other.chain[0]); }
    EDDY_HD PerChain& operator=(const PerChain& other) {
        copy_parts(chain[0], other.chain[0]);
        return *this;
    }
    [[nodiscard]] EDDY_HD static constexpr int count() { return 1; }
};

template <class Spec, class Team>
using LoopState = PerChain<ChainState<Spec>, Team::num_chains>;

}  // namespace eddy::inline v0::detail
