#pragma once
// From a budget of bytes to the capacities of a group's way back.
// Test: tests/solve/gradient_plan.cpp

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <eddy/checkpoint/placement.hpp>
#include <eddy/core/export.hpp>
#include <eddy/solve/ask/memory.hpp>
#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/group/gradient_memory.hpp>

namespace eddy::inline v0::detail {

/// Bytes of memory that the machine has.
[[nodiscard]] EDDY_EXPORT std::int64_t machine_memory_bytes();

/// Rounds that a lane may take; steps of constant size, without events, are not free to take more than the span needs.
[[nodiscard]] inline std::int64_t most_rounds_of_lane(const CallTimes& times, bool is_free) {
    if (is_free || times.dt0 == 0) return times.max_steps;
    // Steps of constant size, and a shorter one before each tstop.
    const double rounds = times.span / times.dt0 + 2. * times.num_tstops + 2;
    return rounds < 1e15 ? std::min(times.max_steps, static_cast<std::int64_t>(rounds))
                         : times.max_steps;
}

/// Bytes that each worker may use, and what it could have.
struct WorkerBudget {
    std::int64_t bytes, available;
};
/// What all workers together may use, of what there is.
struct MemoryLimits {
    std::size_t budget;
    std::int64_t available;
};
/// The memory limits of the machine, or of the device that the backend computes on.
template <class Backend>
[[nodiscard]] MemoryLimits memory_limits(const MemoryBudget& budget,
                                         [[maybe_unused]] const Backend& backend,
                                         [[maybe_unused]] typename Backend::Kept& kept) {
    if constexpr (is_of_device<Backend>)
        return backend.memory_limits(budget, kept);
    else
        return {budget, machine_memory_bytes()};
}
/// A budget beyond what is there is what is there.
[[nodiscard]] inline WorkerBudget budget_of_worker(const MemoryLimits& limits,
                                                   std::ptrdiff_t num_workers) {
    const bool is_less = limits.budget < static_cast<std::size_t>(limits.available);
    const std::int64_t bytes =
        is_less ? static_cast<std::int64_t>(limits.budget) : limits.available;
    return {bytes / num_workers, limits.available / num_workers};
}

/// The capacities of a worker's log, slots and refilling.
template <class Spec, class Team>
void plan_rounds(GradientPlan& plan, const SolveOptions& options, const WorkerBudget& budget,
                 std::int64_t rounds_of_lane, bool with_control) {
    constexpr std::int64_t most = std::int64_t{1} << 20;
    // Lanes that follow each other in a place make a longer loop: worth it while its states stay in
    // the second-level cache, and beyond where lanes would wait for longer ones.
    constexpr std::int64_t near_bytes = std::int64_t{1} << 20;
    constexpr std::int64_t bytes_of_link = sizeof(CheckpointLinks::Link) + sizeof(std::int64_t);
    using Slots = GroupCheckpoints<Spec, Team>;
    const std::int64_t bytes_per_checkpoint = Slots::bytes_per_slot(with_control) + bytes_of_link;
    plan.checkpoints =
        options.checkpoints > 0
            ? std::clamp<std::int64_t>(options.checkpoints, 1,
                                       std::max(most, budget.available / bytes_per_checkpoint))
            : std::clamp<std::int64_t>(budget.bytes / 4 * 3 / bytes_per_checkpoint, 1, most);
    constexpr std::int64_t bytes_of_log = StepLog<Spec, Team>::bytes_per_round;
    constexpr std::int64_t without_end = std::int64_t{1} << 60;
    plan.logged_rounds =
        bytes_of_log > 0 ? budget.bytes / 4 / std::max<std::int64_t>(1, bytes_of_log) : without_end;
    plan.refill = {};
    if (Spec::sums_by_lane) {
        plan.refill.far = std::min(plan.checkpoints, plan.logged_rounds);
        plan.refill.near =
            std::min(plan.refill.far, near_bytes / (Slots::bytes_per_slot(false) + bytes_of_link));
    }
    // Where the log can cover all rounds it does, at the cost of refilling a little less long: slots
    // then hold no sizes and controllers.
    if (!with_control)
        plan.refill.far = std::min(plan.refill.far, plan.logged_rounds - 1 - rounds_of_lane);
    plan.last_round = plan.refill.far + rounds_of_lane;
}

/// The budget, divided among the threads: a quarter of it for logs.
template <class Spec, class Team>
[[nodiscard]] GradientPlan plan_gradient(const SolveOptions& options, const CallTimes& times,
                                         std::ptrdiff_t num_lanes, std::ptrdiff_t num_workers,
                                         const MemoryLimits& limits) {
    const WorkerBudget budget = budget_of_worker(limits, num_workers);
    const std::int64_t of_lane = most_rounds_of_lane(times, !Spec::counts_steps);
    GradientPlan plan;
    plan.num_lanes = static_cast<std::int32_t>(num_lanes);
    if constexpr (requires { Team::plan_way_back(plan, options, budget, of_lane); }) {
        Team::plan_way_back(plan, options, budget, of_lane);  // a way back of its own
    } else {
        plan_rounds<Spec, Team>(plan, options, budget, of_lane, false);
        if (plan.refill.far < plan.refill.near)
            plan_rounds<Spec, Team>(plan, options, budget, of_lane, true);
        plan.logged_rounds = std::min(plan.logged_rounds, plan.last_round + 1);
        plan.slots = std::min(plan.checkpoints, plan.last_round + 1);
        // A lane brings a change for each of its tstops, and one when it leaves; more than the budget's
        // share of them means that fewer lanes follow each other.
        const std::int64_t of_places =
            (times.num_tstops + 1) * (2 * Spec::num_places * Team::num_chains);
        plan.lane_changes =
            std::min(of_places + num_lanes * (times.num_tstops + 1),
                     std::max(2 * of_places, budget.bytes / 8 / std::int64_t{sizeof(LaneChange)}));
    }
    return plan;
}

}  // namespace eddy::inline v0::detail
