#pragma once
// What a backend runs. A kernel is a functor of plain values and views that a device can take as it
// is: kernel(team, arena) does all the work on the group of lanes that the team has. Its arena is
// laid out by kernel.lay_out<Team>(arena, member), so that the bytes that a backend sets aside are
// those that the work takes.
// Test: tests/solve/contracts.cpp

#include <concepts>
#include <eddy/solve/group/team.hpp>
#include <eddy/solve/lane/arena.hpp>

namespace eddy::inline v0::detail {

/// What a kernel computes: a solve, the gradient of a loss, or that for cotangents which are given.
enum class KernelKind { solve, gradient, pullback };

/// What a backend may take out of a kernel besides running it: one with loops of its own takes the problem and the
/// recorders, and writes what becomes of lanes.
template <class K>
concept Kernel = requires(const K& kernel) {
    typename K::Spec;
    typename K::Recorder;
    { K::kind } -> std::convertible_to<KernelKind>;
    kernel.problem;
    kernel.outcomes;  // (lane)
    kernel.marks;     // (lane) of unreliable derivatives; null: nobody watches
    kernel.events;    // (lane) of fields that have them
};
template <class Kernel>
inline constexpr bool is_gradient = Kernel::kind != KernelKind::solve;

/// The bytes of a worker's arena.
template <class Team, class Kernel>
[[nodiscard]] std::size_t arena_bytes(const Kernel& kernel) {
    Arena counting;
    static_cast<void>(kernel.template lay_out<Team>(counting, 0));
    return counting.num_bytes();
}

/// Lanes of a cancelled call that never began. `outcomes` are those of the group.
template <class Team, class Problem>
EDDY_HD void cancel_waiting(const Team& team, LaneOutcome* outcomes, const Problem& problem) {
    for (std::int32_t k = team.num_taken() + team.member(); k < team.num_lanes();
         k += Team::num_members) {
        LaneOutcome& outcome = outcomes[team.lane_at(k)];
        outcome.result = Result::cancelled;
        outcome.t = problem.times_of(of_launch(team, team.lane_at(k))).t0;
    }
}

}  // namespace eddy::inline v0::detail
