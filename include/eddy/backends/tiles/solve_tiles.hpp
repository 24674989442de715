#pragma once
// The lanes of a group, one tile after another. `Kernel` is asked for the problem and for recorders alone:
// solve/group/solve_kernel.hpp, solve/group/gradient_kernel.hpp.
// Test: tests/solve/tiles_oracle.cpp

#include <eddy/backends/cpu/arena_memory.hpp>
#include <eddy/backends/cpu/thread_team.hpp>
#include <eddy/backends/tiles/tile_gradient.hpp>
#include <eddy/solve/call/workspace.hpp>
#include <eddy/solve/group/gradient_kernel.hpp>
#include <eddy/solve/group/kernel.hpp>
#include <memory>
#include <vector>

namespace eddy::inline v0::detail {

/// A thread that takes its lanes in tiles: for plans, it has as many chains as a tile has lanes.
template <class Spec>
class TileTeam : public ThreadTeam<1> {
  public:
    using ThreadTeam<1>::ThreadTeam;
    static constexpr int num_chains = tile_lanes<Spec, false>;
    static constexpr bool takes_prescribed_steps = false;
    static constexpr Watches watches{};

    static void plan_way_back(GradientPlan& plan, const SolveOptions& options,
                              const WorkerBudget& budget, std::int64_t rounds_of_lane) {
        if constexpr (RungeKuttaMethod<typename Spec::Method>)
            plan_tiles<Spec>(plan, options, budget, rounds_of_lane);
    }
};

/// What a worker keeps from group to group and from call to call; a copy begins empty.
struct TileWorker {
    ArenaMemory memory;
    Workspace loop, joint;
};

/// Calls of tiles for `count` lanes: work(first, count) for each, with `first` counted from 0. False from it
/// ends them.
template <class Work>
void for_each_tile(std::int32_t count, int most, const Work& work) {
    for (std::int32_t first = 0; first < count; first += most)
        work(first, std::min<std::int32_t>(most, count - first));
}
/// Lanes of a cancelled call never begin.
inline void cancel_lanes(LaneOutcome* outcomes, std::int32_t count, double t0) {
    for (std::int32_t lane = 0; lane < count; ++lane) {
        outcomes[lane].t = t0;
        outcomes[lane].result = Result::cancelled;
    }
}

/// Solves the lanes of a group.
template <class Kernel, class Team>
void solve_tiles(const Kernel& kernel, Team& team, TileWorker& worker) {
    using Spec = typename Kernel::Spec;
    using Solve = TileSolve<Spec, typename Kernel::Recorder, false>;
    using Vector = TilePack<typename Spec::Scalar>;
    using Real = typename Spec::Scalar;
    struct Pieces {
        Solve solve;
        Real* y;
        Pieces(const Kernel& of, Arena& arena)
            : solve(of.problem, arena),
              y(arena.take<Real>(std::int64_t{Spec::state_size} * Solve::Step::most_lanes)) {}
    };
    static_assert(alignof(Vector) <= Arena::alignment);
    Arena counting;
    static_cast<void>(Pieces(kernel, counting));
    Arena arena = worker.memory.arena(counting.num_bytes());
    Pieces pieces(kernel, arena);
    auto recorder = kernel.recorder(team.first_lane());
    LaneOutcome* const outcomes = kernel.outcomes + team.first_lane();
    for_each_tile(team.num_lanes(), Solve::Step::most_lanes, [&](std::int32_t first, int count) {
        if (!team.attend()) return cancel_lanes(outcomes + first, count, kernel.problem.times.t0);
        pieces.solve.begin(team.first_lane() + first, count, first, recorder, outcomes + first,
                           pieces.y);
        while (!pieces.solve.is_done()) pieces.solve.round(pieces.y, team);
    });
}

/// Solves the lanes of a group and takes their gradients.
template <class Kernel, class Team>
void differentiate_tiles(const Kernel& kernel, Team& team, TileWorker& worker) {
    using Spec = typename Kernel::Spec;
    using Gradient = TileGradient<Spec, typename Kernel::Recorder, Team>;
    using State = TileState<Spec>;
    using Loop = CheckpointedLoop<State, TileRounds<Gradient>, MemoryStore<State>, int>;
    struct Kept {
        std::unique_ptr<Loop> loop;
        std::int64_t checkpoints = 0;
        typename Gradient::Lists lists;
    };
    const GradientPlan& plan = kernel.plan;
    struct Pieces {
        Gradient gradient;
        RecorderMemory<Spec> recorder;
        Pieces(const Kernel& of, Arena& arena)
            : gradient(of.problem, of.plan, arena),
              recorder(arena, of.plan.num_lanes, of.problem.times.num_saves, 0) {}
    };
    Arena counting;
    static_cast<void>(Pieces(kernel, counting));
    Arena arena = worker.memory.arena(counting.num_bytes());
    Pieces pieces(kernel, arena);

    auto& kept = worker.loop.get<Kept>();
    if (!kept.loop || kept.checkpoints != plan.checkpoints) {
        kept.loop = std::make_unique<Loop>(TileRounds<Gradient>{},
                                           LoopOptions{.checkpoints = plan.checkpoints});
        kept.checkpoints = plan.checkpoints;
    }
    pieces.gradient.work_in(kept.lists);
    auto recorder = kernel.recorder(team.first_lane(), team.num_lanes(), pieces.recorder);
    recorder.begin(0, 1);
    LaneOutcome* const outcomes = kernel.outcomes + team.first_lane();
    BackCost& cost = kernel.costs[team.worker()];
    for_each_tile(team.num_lanes(), tile_lanes<Spec, true>, [&](std::int32_t first, int count) {
        if (!team.attend()) return cancel_lanes(outcomes + first, count, kernel.problem.times.t0);
        pieces.gradient.run(*kept.loop, team, team.first_lane() + first, count, first, recorder,
                            outcomes + first);
        add(cost.loops, kept.loop->counters());
        cost.evaluations +=
            pieces.gradient.replayed_rounds() * count * Spec::Stepper::evaluations_per_replay;
        // The loop has states in its slots, where it starts, where it is, and one at work.
        const std::int64_t num_states = kept.loop->store().num_states() + 3;
        const std::int64_t bytes = static_cast<std::int64_t>(counting.num_bytes()) -
                                   pieces.gradient.planned_bytes() + pieces.gradient.used_bytes() +
                                   kept.loop->bytes_of_lists() +
                                   num_states * pieces.gradient.bytes_of_state();
        cost.most_bytes = std::max(cost.most_bytes, bytes);
    });
    tell_lost_states(team.call(), recorder, outcomes, team.first_lane(), team.num_lanes());
    recorder.finish();
}

/// The work of threads on the groups of a launch.
template <class Kernel>
struct TileWork {
    using Team = TileTeam<typename Kernel::Spec>;

    const LaunchPlan& plan;
    const Kernel& kernel;
    ThreadLink link;
    TileWorker* workers;  // (worker)

    void operator()(std::ptrdiff_t worker, std::ptrdiff_t group) const {
        Team team(link, plan, worker, group);
        if constexpr (is_gradient<Kernel>)
            differentiate_tiles(kernel, team, workers[worker]);
        else
            solve_tiles(kernel, team, workers[worker]);
    }
    /// Has the calling thread something to do while it waits for the others, about every 50 ms?
    [[nodiscard]] bool attends() const { return link.call->has_poll(); }
    void attend() const { link.call->poll(); }
};
/// Runs the kernel on all groups of the plan.
template <class Kernel>
void run_tiles(const LaunchPlan& plan, const Kernel& kernel, const ThreadLink& link,
               std::vector<TileWorker>& workers) {
    TileWork<Kernel> work{plan, kernel, link, workers.data()};
    link.others->for_each_group(plan.num_groups(), plan.num_workers, work);
}

}  // namespace eddy::inline v0::detail
