#pragma once
// The kernel of solve and pushforward.
// Test: tests/solve/warps.cpp

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
    forward.run(x, problem);
}

/// Columns of save points, and those of their tangents after them, whose moments over paths are wanted.
template <class Real>
struct SavedNumbers {
    SavedArrays<Real> saved;
    std::ptrdiff_t num_saves, num_columns;

    [[nodiscard]] EDDY_HD Moments sum(std::ptrdiff_t number, const PathRuns::Range& rows,
                                      const LaneOutcome* outcomes) const {
        const std::ptrdiff_t k = number / num_columns, i = number % num_columns;
        const EnsembleView<Real> y = k < num_saves ? saved.y[k] : saved.tangent[k - num_saves];
        return sum_of_run<Moments>(rows, outcomes, [&](std::ptrdiff_t row, Moments& block) {
            block.add(static_cast<double>(y(row, i)));
        });
    }
};

/// `Steps` takes every accepted step, where it is wanted.
template <class SpecType, class Observable, class Steps = NoSteps>
struct SolveKernel {
    using Spec = SpecType;
    using Real = typename Spec::Scalar;
    using Recorder = SolutionRecorder<Spec, Observable, Steps>;
    static constexpr KernelKind kind = KernelKind::solve;

    Problem<Spec> problem;
    LaneOutcome* outcomes = nullptr;  // (lane)
    SavedArrays<Real> saved;
    std::int32_t group_size = 0;
    [[no_unique_address]] Steps steps{};
    TangentMark* marks = nullptr;  // (lane); null: nobody watches
    LaneEvents* events = nullptr;  // (lane) of fields that have them
    RunSums<Moments> sums{};  // of paths, for who launches where rows stay; else nobody wants them

    [[nodiscard]] SavedNumbers<Real> numbers() const {
        return {saved, problem.times.num_saves, Observable::num_outputs};
    }
    /// Takes what the lanes from `first` on save.
    [[nodiscard]] EDDY_HD Recorder recorder(std::ptrdiff_t first) const {
        return {problem, first, saved, steps};
    }
    template <class Team>
    [[nodiscard]] EDDY_HD ForwardMemory lay_out(Arena& arena, int) const {
        const ForwardMemory memory = forward_memory(arena);
        if constexpr (has_tangents_carried<Steps>) static_cast<void>(carried_rows<Team>(arena));
        return memory;
    }
    template <class Team>
    EDDY_HD void operator()(Team& team, Arena arena) const {
        ForwardMemory memory = forward_memory(arena);
        memory.outcomes = outcomes + team.first_lane();
        if (marks) memory.tangent_marks = marks + team.first_lane();
        if (Spec::has_event) memory.events = events + team.first_lane();
        Recorder recorder = this->recorder(team.first_lane());
        if constexpr (has_tangents_carried<Steps>)
            recorder.steps().rows = carried_rows<Team>(arena);
        solve_group(team, problem, memory, recorder);
        cancel_waiting(team, memory.outcomes, problem);
    }

  private:
    [[nodiscard]] EDDY_HD ForwardMemory forward_memory(Arena& arena) const {
        double* const first_sizes = arena.take<double>(group_size);
        return {.first_sizes = first_sizes, .num_saved = arena.take<std::int32_t>(group_size)};
    }
    /// The states in which tangents are carried.
    template <class Team>
    [[nodiscard]] static auto* carried_rows(Arena& arena) {
        return arena.take<typename Spec::State>(Team::num_chains * Steps::num_rows);
    }
};

}  // namespace eddy::inline v0::detail
