#pragma once
// From a budget of bytes to the capacities of a group's way back.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <eddy/checkpoint/placement.hpp>
#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/group/gradient_memory.hpp>

namespace eddy::detail {

/// Bytes of memory that the machine has.
[[nodiscard]] std::int64_t machine_memory_bytes();

/// Rounds that a lane may take.
[[nodiscard]] inline std::int64_t most_rounds_of_lane(const LaneTimes& times, bool is_adaptive) {
    if (is_adaptive || times.dt0 == 0) return times.max_steps;
    // Steps of constant size, and a shorter one before each tstop.
    const double rounds = times.span / times.dt0 + 2. * times.num_tstops + 2;
    return rounds < 1e15 ? std::min(times.max_steps, static_cast<std::int64_t>(rounds))
                         : times.max_steps;
}

/// The budget, divided among the threads: a quarter of it for logs. A budget beyond the machine's
/// memory is what the machine has.
template <class Spec, class Team>
[[nodiscard]] GradientPlan plan_gradient(const SolveOptions& options, const LaneTimes& times,
                                         std::ptrdiff_t num_lanes, std::ptrdiff_t num_workers) {
    using Slots = GroupCheckpoints<Spec, Team>;
    constexpr std::int64_t most = std::int64_t{1} << 20;
    // Lanes that follow each other in a place make a longer loop: worth it while its states stay in
    // the second-level cache, and beyond where lanes would wait for longer ones.
    constexpr std::int64_t near_bytes = std::int64_t{1} << 20;
    constexpr std::int64_t bytes_of_link = sizeof(CheckpointLinks::Link) + sizeof(std::int64_t);
    constexpr std::int64_t bytes_per_checkpoint = Slots::bytes_per_slot(false) + bytes_of_link;
    constexpr std::int64_t bytes_per_round = StepLog<Spec, Team>::bytes_per_round;
    const std::int64_t available = machine_memory_bytes();
    const std::int64_t budget = (options.memory_budget < static_cast<std::size_t>(available)
                                     ? static_cast<std::int64_t>(options.memory_budget)
                                     : available) /
                                num_workers;
    GradientPlan plan;
    plan.num_lanes = static_cast<std::int32_t>(num_lanes);
    plan.checkpoints =
        options.checkpoints > 0
            ? std::clamp<std::int64_t>(
                  options.checkpoints, 1,
                  std::max(most, available / num_workers / bytes_per_checkpoint))
            : std::clamp<std::int64_t>(budget / 4 * 3 / bytes_per_checkpoint, 1, most);
    plan.logged_rounds = budget / 4 / bytes_per_round;
    if constexpr (Spec::sums_by_lane) {
        plan.refill.far = std::min(plan.checkpoints, plan.logged_rounds);
        plan.refill.near = std::min(plan.refill.far, near_bytes / bytes_per_checkpoint);
    }
    const std::int64_t of_lane = most_rounds_of_lane(times, Spec::is_adaptive);
    plan.last_round = plan.refill.far + of_lane;
    plan.logged_rounds = std::min(plan.logged_rounds, plan.last_round + 1);
    plan.slots = std::min(plan.checkpoints, plan.last_round + 1);
    // A lane brings a change for each of its tstops, and one when it leaves; more than the budget's
    // share of them means that fewer lanes follow each other.
    const std::int64_t of_places =
        (times.num_tstops + 1) * (2 * Spec::num_places * Team::num_chains);
    plan.lane_changes =
        std::min(of_places + num_lanes * (times.num_tstops + 1),
                 std::max(2 * of_places, budget / 8 / std::int64_t{sizeof(LaneChange)}));
    return plan;
}

}  // namespace eddy::detail
