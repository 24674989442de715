#pragma once
// What events make of an attempted step of all places, and of its times where those have tangents: between
// the hot path (attempt.hpp, whose ChainStepper is `Steps` here) and the search.
// Test: tests/solve/event_oracle.cpp

#include <eddy/solve/lane/event_search.hpp>
#include <eddy/solve/lane/moving_times.hpp>

namespace eddy::inline v0::detail {

template <class Spec, class Steps>
[[gnu::noinline]] EDDY_HD void move_to_roots(const Steps& steps, const ChainState<Spec>& x,
                                             const typename Spec::Used& logged,
                                             typename Spec::Primal& by) {
    steps.with_still_input(x, abs(size_in(logged)), [&](const auto& in) {
        for_logged_events<Spec>(logged, [&]<int i>(const MaskOf<typename Spec::Primal>& places) {
            by = select(places, tangent_of_root<Spec, i>(in, x.memory, x.events.clock), by);
        });
    });
}
/// Calls use(in) with what steps from x start from, whose sizes have these tangents, if any.
template <class Spec, class Steps, class Use>
EDDY_INLINE EDDY_HD inline decltype(auto) with_moved_input(
    const Steps& steps, const ChainState<Spec>& x, const typename Spec::Time& size, const NoClock&,
    Use&& use, const typename Spec::Single* normals = nullptr) {
    return steps.with_still_input(x, size, use, normals);
}
template <class Spec, class Steps, class Use>
EDDY_INLINE EDDY_HD inline decltype(auto) with_moved_input(
    const Steps& steps, const ChainState<Spec>& x, const typename Spec::Time& size,
    const typename Spec::Primal& by, Use&& use, const typename Spec::Single* = nullptr) {
    return steps.with_still_input(x, size, [&](const auto& in) -> decltype(auto) {
        return MovingStep<std::remove_cvref_t<decltype(in)>, typename Spec::Number>{in}.along(
            x.events.clock, by, use);
    });
}
/// The tangents of the sizes of a round's steps: of one that lands on its tstop that of the time it starts
/// at, with the other sign; of one to an event that of the root.
template <class Spec>
requires(!Spec::moves_times) [[nodiscard]] EDDY_INLINE EDDY_HD inline NoClock
    tangents_of_sizes(const auto& /*steps*/, const ChainState<Spec>& /*x*/,
                      const typename Spec::Used&) {
    return {};
}
template <class Spec>
requires Spec::moves_times [[nodiscard]] EDDY_INLINE EDDY_HD inline typename Spec::Primal
tangents_of_sizes(const auto& steps, const ChainState<Spec>& x, const typename Spec::Used& logged) {
    using Time = typename Spec::Time;
    using Primal = typename Spec::Primal;
    const auto lands = abs(size_in(logged)) == steps.tstop - x.elapsed;
    Primal by = select(places_of<Primal, Time>(lands), -x.events.clock, Primal(0));
    if (any(size_in(logged) < Time(0))) [[unlikely]]
        move_to_roots<Spec>(steps, x, logged, by);
    return by;
}
/// Moves the tangents of times, from those before steps to those after them: none at a tstop.
template <class Spec>
EDDY_INLINE EDDY_HD inline void move_clock(const EventSearch<Spec>&, EventSearch<Spec>&,
                                           const NoClock&, const typename Spec::Time&,
                                           const MaskOf<typename Spec::Time>&) {}
template <class Spec>
EDDY_HD void move_clock(const EventSearch<Spec>& from, EventSearch<Spec>& to,
                        const typename Spec::Primal& by, const typename Spec::Time& used,
                        const MaskOf<typename Spec::Time>& is_there) {
    using Time = typename Spec::Time;
    using Primal = typename Spec::Primal;
    to.clock =
        select(places_of<Primal, Time>(used != Time(0)),
               select(places_of<Primal, Time>(is_there), Primal(0), from.clock + by), from.clock);
}

/// The attempts that have led to events once more, with sizes that are roots; use(in). One that has no slope
/// there ends its lane.
template <class Spec, class Steps, class Use>
EDDY_HD void take_roots(const Steps& steps, const ChainState<Spec>& x, Attempt<Spec>& attempt,
                        AfterAttempt<Spec>& after, const Use& use) {
    using Primal = typename Spec::Primal;
    attempt.by = tangents_of_sizes<Spec>(steps, x, used_by(attempt));
    for (int place = 0; place < Spec::num_places; ++place) {
        if (is_number(get_lane(attempt.by, place))) continue;
        set_lane(attempt.by, place, typename Spec::Scalar(0));
        set_lane(after.events.side.data[0], place, std::numeric_limits<double>::quiet_NaN());
    }
    with_moved_input<Spec>(steps, x, attempt.size, attempt.by, [&](const auto& in) {
        Spec::Stepper::attempt(in, x.memory, attempt.trial);
        const auto meets = convert<Primal>(attempt.used) < Primal(0);
        move_where(meets, attempt.trial.next, after.y);
        use(in);
    });
}

/// Looks for events at the end of an attempt from x, which has been judged.
template <class Spec, class Steps>
EDDY_INLINE EDDY_HD inline void seek_events(const Steps& steps, const ChainState<Spec>& x,
                                            Attempt<Spec>& attempt, AfterAttempt<Spec>& after) {
    attempt.by = tangents_of_sizes<Spec>(steps, x, attempt.size);
    steps.with_input(x, attempt.size, [&](const auto& in) EDDY_INLINE {
        EventSeeker<Spec>::seek(in, steps.landings(), x, attempt, after, [&](const auto& use) {
            if constexpr (Spec::moves_times)
                take_roots<Spec>(steps, x, attempt, after, use);
            else
                use(in);
        });
    });
    move_clock(x.events, after.events, attempt.by, attempt.used, after.elapsed == steps.tstop);
}

}  // namespace eddy::inline v0::detail
