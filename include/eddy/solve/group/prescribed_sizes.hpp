#pragma once
// The guest that sets sizes of steps which are prescribed (lane/prescribed_steps.hpp).
// Test: tests/solve/stable_gradients.cpp

#include <eddy/solve/group/round_guests.hpp>
#include <eddy/solve/lane/gradient_mark.hpp>

namespace eddy::inline v0::detail {

template <class Spec, class Team>
struct PrescribedSizes : Guest<PrescribedSizes<Spec, Team>> {
    using Occupants = Occupant[Spec::num_places];

    EDDY_INLINE EDDY_HD static void prepare(const Problem<Spec>& problem, const Team& team,
                                            const Occupants& occupants, ChainState<Spec>& x) {
        if (problem.prescribed) [[unlikely]]
            off_the_hot_path([&problem, &team, &occupants](
                                 ChainState<Spec>& at) { set(problem, team, occupants, at); },
                             x);
    }
    /// Sets the sizes that are prescribed.
    [[gnu::noinline]] EDDY_HD static void set(const Problem<Spec>& problem, const Team& team,
                                              const Occupants& occupants, ChainState<Spec>& x) {
        if (!problem.prescribed) return;
        for (int place = 0; place < Spec::num_places; ++place) {
            const std::int32_t lane = occupants[place].lane;
            if (lane == no_lane) continue;
            set_lane(x.size, place,
                     problem.prescribed.size_at(of_launch(team, lane), get_lane(x.elapsed, place)));
        }
    }
};

/// Lanes of gradients that are watched may be solved once more.
template <class Spec, class Team, class Recorder>
inline constexpr bool may_take_prescribed_steps =
    can_watch<Spec>&& Team::takes_prescribed_steps&& requires {
    requires Recorder::has_report;
};
template <class Spec, class Team, class Recorder>
using PrescribedSizesFor = std::conditional_t<may_take_prescribed_steps<Spec, Team, Recorder>,
                                              PrescribedSizes<Spec, Team>, NoGuest<0>>;

}  // namespace eddy::inline v0::detail
