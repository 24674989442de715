#pragma once
// What the way back of some groups cost.
// Test: tests/backends/grid_finish.cpp, tests/solve/gradient_plan.cpp

#include <eddy/checkpoint/sweeps.hpp>

namespace eddy::inline v0::detail {

/// Adds what one loop did to what others did.
EDDY_HD inline void add(LoopCounters& total, const LoopCounters& loop) {
    total.advances += loop.advances;
    total.recomputed += loop.recomputed;
    total.pullbacks += loop.pullbacks;
    total.stores += loop.stores;
    total.loads += loop.loads;
    total.peak_checkpoints = max(total.peak_checkpoints, loop.peak_checkpoints);
}

/// Counts are of rounds.
struct BackCost {
    LoopCounters loops;
    std::int64_t evaluations = 0;  // of f, by lanes
    std::int64_t most_bytes = 0;   // of states and logs, that a group has used
};
/// Adds the cost of groups that had the same memory, one after another.
EDDY_HD inline void add(BackCost& total, const BackCost& cost) {
    add(total.loops, cost.loops);
    total.evaluations += cost.evaluations;
    total.most_bytes = max(total.most_bytes, cost.most_bytes);
}

}  // namespace eddy::inline v0::detail
