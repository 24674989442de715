#pragma once
// What a backend runs. A kernel is a functor of plain values and views that a device can take as it
// is: kernel(team, arena) does all the work on the group of lanes that the team has. Its arena is
// laid out by kernel.lay_out<Team>(arena, member), so that the bytes that a backend sets aside are
// those that the work takes.

#include <eddy/solve/group/team.hpp>
#include <eddy/solve/lane/arena.hpp>

namespace eddy::inline v0::detail {

/// The bytes of a worker's arena.
template <class Team, class Kernel>
[[nodiscard]] std::size_t arena_bytes(const Kernel& kernel) {
    Arena counting;
    static_cast<void>(kernel.template lay_out<Team>(counting, 0));
    return counting.num_bytes();
}

/// Lanes of a cancelled call that never began. `outcomes` are those of the group.
template <class Team>
EDDY_HD void cancel_waiting(const Team& team, LaneOutcome* outcomes, double t0) {
    for (std::int32_t k = team.num_taken() + team.member(); k < team.num_lanes();
         k += Team::num_members) {
        LaneOutcome& outcome = outcomes[team.lane_at(k)];
        outcome.result = Result::cancelled;
        outcome.t = t0;
    }
}

}  // namespace eddy::inline v0::detail
