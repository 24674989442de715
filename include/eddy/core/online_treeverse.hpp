#pragma once
// Online placement as published: Algorithm I of Stumm & Walther while it is optimal
// (staircase.hpp), then the minimal-repetition rule of Wang, Moin & Iaccarino (2009, SIAM J. Sci.
// Comput. 31(4), doi:10.1137/080727890). Kept as the yardstick for CostGreedy.
//
// The rule stores every step: into the latest slot marked dispensable, at level 0; else over the
// latest checkpoint, whose level rises by one, and slots of a level below its old one become
// dispensable.
// Test: tests/checkpoint/online_placement.cpp

#include <cstdint>
#include <eddy/core/host_device.hpp>
#include <eddy/core/placed.hpp>
#include <eddy/core/staircase.hpp>

namespace eddy::inline v0 {

/// Generates the stores of the published online treeverse in order. `checkpoints` >= 1 counts the
/// slot of x_0.
class OnlineTreeverse {
  public:
    /// Entries of workspace that `checkpoints` slots need; the caller owns them for the life of the
    /// generator.
    [[nodiscard]] EDDY_HD static constexpr std::int64_t workspace_size(std::int64_t checkpoints) {
        return 3 * checkpoints;
    }

    EDDY_HD constexpr OnlineTreeverse(std::int64_t checkpoints, std::int64_t* workspace)
        : checkpoints_(checkpoints),
          staircase_(checkpoints),
          step_(staircase_.end()),
          position_(workspace),
          level_(workspace + checkpoints),
          dispensable_(workspace + 2 * checkpoints) {
        for (std::int64_t slot = 0; slot < checkpoints; ++slot) {
            position_[slot] = -1;
            level_[slot] = 0;
            dispensable_[slot] = 0;
        }
    }

    /// The next store. Steps strictly increase; x_0 comes first and keeps slot 0.
    [[nodiscard]] EDDY_HD constexpr Placed next() {
        Placed placed = staircase_.next();
        if (checkpoints_ == 1) return placed;
        if (placed == nothing_more()) placed = {step_++, wang_moin()};
        position_[placed.slot] = placed.step;
        return placed;
    }

  private:
    [[nodiscard]] EDDY_HD constexpr std::int64_t wang_moin() {
        std::int64_t latest = 1;
        std::int64_t latest_dispensable = 0;
        for (std::int64_t slot = 1; slot < checkpoints_; ++slot) {
            if (position_[slot] > position_[latest]) latest = slot;
            const bool later =
                latest_dispensable == 0 || position_[slot] > position_[latest_dispensable];
            if (dispensable_[slot] != 0 && later) latest_dispensable = slot;
        }
        if (latest_dispensable != 0) {
            level_[latest_dispensable] = 0;
            dispensable_[latest_dispensable] = 0;
            return latest_dispensable;
        }
        for (std::int64_t slot = 1; slot < checkpoints_; ++slot) {
            if (level_[slot] < level_[latest]) dispensable_[slot] = 1;
        }
        ++level_[latest];
        return latest;
    }

    std::int64_t checkpoints_;
    Staircase staircase_;
    std::int64_t step_;          // the next that the staircase does not decide about
    std::int64_t* position_;     // (slot) the step stored, -1: none
    std::int64_t* level_;        // (slot)
    std::int64_t* dispensable_;  // (slot) 0 or 1
};

}  // namespace eddy::inline v0
