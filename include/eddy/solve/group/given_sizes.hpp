#pragma once
// The next size of each place's step, where steps are given (lane/given_steps.hpp).

#include <eddy/solve/group/team.hpp>
#include <eddy/solve/lane/lane_state.hpp>
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
template <class Spec, class Team>
[[gnu::always_inline]] EDDY_HD inline void take_given_sizes(
    [[maybe_unused]] const Problem<Spec>& problem, [[maybe_unused]] const Team& team,
    [[maybe_unused]] const Occupant (&occupants)[Spec::num_places],
    [[maybe_unused]] ChainState<Spec>& x) {
    if constexpr (may_be_given_steps<Team>) {
        if (problem.given.are_given()) [[unlikely]]
            set_given_sizes(problem, team, occupants, x);
    }
}

}  // namespace eddy::inline v0::detail
