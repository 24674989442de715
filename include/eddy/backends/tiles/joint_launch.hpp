#pragma once
// Launches of lanes that share their steps. A gradient first finds the steps, all lanes at once and forward
// alone; then every tile takes them as given, forward and back as ever. That costs one evaluation more of
// each stage, and no more memory than lanes of their own: what a tile keeps for its way back is in the
// caches, and what all tiles would have to keep at once is not.
// Test: tests/backends/joint_steps.cpp

#include <eddy/backends/tiles/joint_solve.hpp>

namespace eddy::inline v0::detail {

/// What save points show is not wanted yet.
template <class Spec>
struct NoRecorder {
    static constexpr Result not_finite = Result::observed_not_finite;  // never
    [[nodiscard]] static constexpr bool wants_steps() { return false; }
    static void save_step(std::int32_t, const TakenStep&, const typename Spec::LaneState&) {}
    [[nodiscard]] static bool save(std::int32_t, std::int32_t, const typename Spec::LaneState&) {
        return true;
    }
};

/// Lanes that have taken the same steps a second time, now for their gradients: what they are told to have
/// cost is both.
inline void add_first_solve(LaneOutcome& now, const LaneOutcome& first) {
    if (is_failure(first.result)) {
        now = first;
        return;
    }
    now.rejected = first.rejected;
    now.evaluations += first.evaluations;
}

template <class Kernel>
void launch_jointly(const LaunchPlan& plan, const Kernel& kernel, const ThreadLink& link,
                    std::vector<TileWorker>& workers) {
    using Spec = typename Kernel::Spec;
    const LaunchPlan tiles{plan.num_lanes, tile_lanes<Spec, false>, plan.num_workers};
    ArenaMemory& memory = workers.front().memory;
    Workspace& lists = workers.front().joint;
    if constexpr (!is_gradient<Kernel>) {
        const auto recorder = [&](std::ptrdiff_t first) { return kernel.recorder(first); };
        using Solve = JointSolve<Spec, typename Kernel::Recorder, true>;
        Solve(tiles, link, kernel.problem, kernel.outcomes, recorder, memory,
              lists.get<typename Solve::Lists>())
            .run(kernel.problem.times.of_all());
    } else {
        const auto recorder = [](std::ptrdiff_t) { return NoRecorder<Spec>{}; };
        using Solve = JointSolve<Spec, NoRecorder<Spec>, false>;
        auto& kept = lists.get<typename Solve::Lists>();
        Solve solve(tiles, link, kernel.problem, kernel.outcomes, recorder, memory, kept);
        solve.run(kernel.problem.times.of_all());
        const JointSteps& steps = kept.steps;
        const std::vector<LaneOutcome>& first = kept.outcomes;
        kept.outcomes.assign(kernel.outcomes, kernel.outcomes + plan.num_lanes);
        const std::int64_t all[] = {0, static_cast<std::int64_t>(steps.size.size())};
        Kernel second = kernel;
        second.problem.prescribed = {all, steps.elapsed.data(), steps.size.data()};
        // Whatever the error of a lane, the steps are those of all.
        for (int i = 0; i < Spec::state_size; ++i)
            second.problem.atol[i] = std::numeric_limits<typename Spec::Scalar>::max() / 16;
        run_tiles(plan, second, link, workers);
        // The first worker has had the first solve's memory as well: at most both, where they do not
        // overlap.
        BackCost& cost = kernel.costs[0];
        cost.most_bytes += solve.num_bytes() + steps.num_bytes() +
                           static_cast<std::int64_t>(first.size() * sizeof(LaneOutcome));
        for (std::ptrdiff_t lane = 0; lane < plan.num_lanes; ++lane)
            add_first_solve(kernel.outcomes[lane], first[static_cast<std::size_t>(lane)]);
    }
}

}  // namespace eddy::inline v0::detail
