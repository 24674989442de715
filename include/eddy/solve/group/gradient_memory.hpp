#pragma once
// How much a group may keep for its way back, and where: planned from counts alone, laid out in one
// arena. Capacities are fixed; where one is full, no further lane begins until the way back has made
// room, and a replay repeats attempts where the log has ended.
// Test: tests/solve/gradient_plan.cpp

#include <eddy/checkpoint/checkpoint_links.hpp>
#include <eddy/checkpoint/sweeps.hpp>
#include <eddy/solve/group/group_checkpoints.hpp>
#include <eddy/solve/group/group_forward.hpp>
#include <eddy/solve/lane/gradient_mark.hpp>

namespace eddy::inline v0::detail {

struct GradientPlan {
    std::int32_t num_lanes = 0;    // of the group
    std::int64_t checkpoints = 1;  // that the placement counts on
    std::int64_t slots = 1;        // of them, those that may be reached
    std::int64_t logged_rounds = 0;
    std::int64_t lane_changes = 0;
    std::int64_t last_round = 0;  // that there may be
    RefillLimits refill;
    bool watches = false;  // the way back (gradient_watch.hpp)
};

template <class Spec, class Team>
struct GradientMemory {
    using Sums = Vec<typename Spec::Number, Spec::parameter_room>;

    GradientPlan plan;
    ForwardMemory forward;  // its outcomes belong to the call
    LaneAssignment assignment;
    StepLog<Spec, Team> log;
    GroupCheckpoints<Spec, Team> checkpoints;
    CheckpointLinks stack;
    Sums* sums = nullptr;           // (member, chain)
    GradientMark* marks = nullptr;  // (lane) of the call; null: nobody watches

    GradientMemory() = default;
    EDDY_HD GradientMemory(Arena& arena, const GradientPlan& wanted, int member)
        : plan(wanted),
          log(arena, plan.logged_rounds),
          checkpoints(arena, plan.slots, plan.logged_rounds, plan.last_round),
          sums(arena.take<Sums>(Team::num_chains * Team::num_members)) {
        forward.first_sizes = arena.take<double>(plan.num_lanes);
        forward.num_saved = arena.take<std::int32_t>(plan.num_lanes);
        if (plan.watches) forward.first_rounds = arena.take<std::int64_t>(plan.num_lanes);
        LaneChange* const changes = arena.take<LaneChange>(plan.lane_changes * Team::num_members);
        assignment = LaneAssignment(changes ? changes + member * plan.lane_changes : nullptr,
                                    plan.lane_changes);
        auto* const links =
            arena.take<CheckpointLinks::Link>(CheckpointLinks::num_links(plan.slots));
        auto* const free = arena.take<std::int64_t>(plan.slots);
        if (links && member == 0) stack = CheckpointLinks(links, free, plan.slots);
    }

    /// Bytes of states and log that a run of so many chains has written.
    [[nodiscard]] EDDY_HD std::int64_t bytes_used(const LoopCounters& rounds,
                                                  int num_chains) const {
        using Slots = GroupCheckpoints<Spec, Team>;
        const bool with_control = rounds.pullbacks > plan.logged_rounds;
        const std::int64_t bytes =
            rounds.peak_checkpoints * Slots::bytes_per_slot(with_control) +
            min(rounds.pullbacks, plan.logged_rounds) * StepLog<Spec, Team>::bytes_per_round;
        return bytes / Team::num_chains * num_chains;
    }
};

}  // namespace eddy::inline v0::detail
