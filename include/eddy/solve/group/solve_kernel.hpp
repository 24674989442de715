#pragma once
// The kernel of solve and pushforward.

#include <eddy/solve/group/group_forward.hpp>
#include <eddy/solve/group/kernel.hpp>
#include <eddy/solve/lane/path_runs.hpp>
#include <eddy/solve/lane/solution_recorder.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// Solves the lanes of a team's group, forward alone: none, where the call is cancelled already.
template <class Spec, class Team, class Recorder>
EDDY_HD void solve_group(Team& team, const Problem<Spec>& problem, const ForwardMemory& memory,
                         Recorder& recorder) {
    constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
    if (team.is_cancelled()) return;
    choose_first_sizes(team, problem, memory);
    GroupForward<Spec, Team, Recorder> forward(team, problem, memory, {}, recorder);
    LoopState<Spec, Team> x = forward.begin({never, never});
    forward.run(x);
}

/// `Steps` takes every accepted step, where it is wanted.
template <class SpecType, class Observable, class Steps = NoSteps>
struct SolveKernel {
    using Spec = SpecType;
    using Real = typename Spec::Scalar;
    using Recorder = SolutionRecorder<Spec, Observable, Steps>;
    static constexpr std::ptrdiff_t num_columns = Observable::num_outputs;  // of a save point

    Problem<Spec> problem;
    LaneOutcome* outcomes = nullptr;  // (lane)
    SavedArrays<Real> saved;
    std::int32_t group_size = 0;
    [[no_unique_address]] Steps steps{};
    TangentMark* tangent_marks = nullptr;  // (lane); null: nobody watches
    LaneEvents* events = nullptr;          // (lane) of fields that have them
    RunSums sums{};  // of paths, for who launches where rows stay; else nobody wants them

    /// Takes what the lanes from `first` on save.
    [[nodiscard]] EDDY_HD Recorder recorder(std::ptrdiff_t first) const {
        return {problem, first, saved, steps};
    }
    template <class Team>
    [[nodiscard]] EDDY_HD ForwardMemory lay_out(Arena& arena, int) const {
        double* const first_sizes = arena.take<double>(group_size);
        return {first_sizes, arena.take<std::int32_t>(group_size), nullptr, nullptr, nullptr,
                nullptr};
    }
    template <class Team>
    EDDY_HD void operator()(Team& team, Arena arena) const {
        ForwardMemory memory = lay_out<Team>(arena, team.member());
        memory.outcomes = outcomes + team.first_lane();
        if (tangent_marks) memory.tangent_marks = tangent_marks + team.first_lane();
        if constexpr (Spec::has_event) memory.events = events + team.first_lane();
        Recorder recorder = this->recorder(team.first_lane());
        solve_group(team, problem, memory, recorder);
        cancel_waiting(team, memory.outcomes, problem.times.t0);
    }
};

}  // namespace eddy::inline v0::detail
