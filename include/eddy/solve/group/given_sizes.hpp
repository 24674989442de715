#pragma once
// The next size of each place's step, where steps are given (lane/given_steps.hpp).
// Test: tests/solve/stable_gradients.cpp

#include <eddy/solve/group/team.hpp>
#include <eddy/solve/lane/chain_state.hpp>
#include <eddy/solve/lane/gradient_mark.hpp>
#include <eddy/solve/lane/problem.hpp>

namespace eddy::inline v0::detail {

template <class Spec, class Team>
[[gnu::noinline]] EDDY_HD void set_given_sizes(const Problem<Spec>& problem, const Team& team,
                                               const Occupant (&occupants)[Spec::num_places],
                                               ChainState<Spec>& x) {
    for (int place = 0; place < Spec::num_places; ++place) {
        const std::int32_t lane = occupants[place].lane;
        if (lane == no_lane) continue;
        set_lane(x.size, place,
                 problem.given.size_at(team.first_lane() + lane, get_lane(x.elapsed, place)));
    }
}
/// Lanes of gradients that are watched may be solved once more.
template <class Spec, class Team, class Recorder>
inline constexpr bool may_take_given_steps = can_watch<Spec>&& Team::may_be_given_steps&& requires {
    requires Recorder::has_report;
};

/// Gives steps their sizes, where sizes are given: set(x), off the hot path.
template <class Team, class Recorder, class Spec, class Set>
EDDY_INLINE EDDY_HD inline void take_given_sizes([[maybe_unused]] const Problem<Spec>& problem,
                                                 [[maybe_unused]] ChainState<Spec>& x,
                                                 [[maybe_unused]] const Set& set) {
    if constexpr (may_take_given_steps<Spec, Team, Recorder>) {
        if (problem.given.are_given()) [[unlikely]]
            off_the_hot_path(set, x);
    }
}

}  // namespace eddy::inline v0::detail
