#pragma once
// From a budget of bytes to what a worker keeps of the rounds of a tile: half of it for what the way back
// takes of their stages, at most as much as caches hold, a quarter for the log of their steps, a quarter for
// states of the checkpointed loop. What a tile works in, however many rounds there are, comes on top.
// Test: tests/backends/tiles_memory.cpp

#include <algorithm>
#include <eddy/solve/call/gradient_plan.hpp>

namespace eddy::inline v0::detail {

/// Bytes that a round takes: of the log, and with what is kept of its stages.
struct BytesOfRound {
    std::int64_t logged, kept;
};

/// `plan.slots` are the rounds whose stages are kept; bytes_of_slot(with_clocks): of a state.
template <class BytesOfSlot>
void plan_rounds_of_tile(GradientPlan& plan, const SolveOptions& options,
                         const WorkerBudget& budget, std::int64_t rounds_of_lane,
                         const BytesOfRound& bytes, const BytesOfSlot& bytes_of_slot) {
    constexpr std::int64_t most = std::int64_t{1} << 20;
    // More than the caches hold is written and read more slowly than it is computed again.
    constexpr std::int64_t most_kept_bytes = std::int64_t{16} << 20;
    rounds_of_lane = std::max<std::int64_t>(rounds_of_lane, 1);
    plan.slots = std::clamp<std::int64_t>(std::min(budget.bytes / 2, most_kept_bytes) / bytes.kept,
                                          1, rounds_of_lane);
    plan.logged_rounds = std::min(budget.bytes / 4 / bytes.logged, rounds_of_lane);
    const std::int64_t of_slot = bytes_of_slot(plan.logged_rounds < rounds_of_lane);
    plan.checkpoints =
        options.checkpoints > 0
            ? std::min(options.checkpoints, std::max(most, budget.available / of_slot))
            : std::clamp<std::int64_t>(budget.bytes / 4 / of_slot, 1,
                                       std::min(most, rounds_of_lane + 1));
}

}  // namespace eddy::inline v0::detail
