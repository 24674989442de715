#pragma once
// Events of a round that the log knows: which places had which, and what they made of its end.
// Test: tests/solve/event_gradients.cpp

#include <eddy/solve/lane/tried_step.hpp>

namespace eddy::inline v0::detail {

/// Calls visit<i>(places) for each event, with the places of `meets` that had it, where there are any.
template <class Spec, class Events, class Visit>
EDDY_HD void for_events(const MaskOf<typename Spec::Time>& meets,
                        [[maybe_unused]] const Events& events, Visit&& visit) {
    using Time = typename Spec::Time;
    static_for<0, Spec::num_events>([&]<int i>() {
        MaskOf<Time> places = meets;
        if constexpr (Spec::has_several_events)
            places = meets & (events == Time(static_cast<double>(i)));
        if (!any(places)) return;
        visit.template operator()<i>(places_of<typename Spec::Primal, Time>(places));
    });
}

/// Visits the events of a round that the log knows.
template <class Spec, class Visit>
EDDY_HD void for_logged_events(const typename Spec::Used& logged, Visit&& visit) {
    for_events<Spec>(size_in(logged) < typename Spec::Time(0), event_in(logged), visit);
}

/// The states after the jumps of a round, from those at its end.
template <class Spec, class Input>
EDDY_INLINE EDDY_HD inline void jump_again(const Input& in, const typename Spec::Used& logged,
                                           typename Spec::State& next) {
    using Functions = EventFunctions<typename Spec::Field>;
    if (!any(size_in(logged) < typename Spec::Time(0))) [[likely]]
        return;
    const auto before = next;
    const auto jump = [&]<int i>(const MaskOf<typename Spec::Primal>& places) {
        if constexpr (!Functions::template is_terminal<i>) {
            const auto after = Functions::template jump<i>(in.t.last, before, in.p);
            for_components<Spec::state_size>(
                [&](int k) { next[k] = select(places, after[k], next[k]); });
        }
    };
    for_logged_events<Spec>(logged, jump);
}

}  // namespace eddy::inline v0::detail
