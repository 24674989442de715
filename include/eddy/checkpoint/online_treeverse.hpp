#pragma once
// Online placement as published: Algorithm I of Stumm & Walther (2010, SIAM J. Sci. Comput. 32(2),
// doi:10.1137/080742439) while it is optimal, for steps below (c + 1)(c + 2)/2 - 1, then the
// minimal-repetition rule of Wang, Moin & Iaccarino (2009, SIAM J. Sci. Comput. 31(4),
// doi:10.1137/080727890). Kept as the yardstick for CostGreedy.
//
// Algorithm I lets fixed checkpoints land at gaps that shrink by one each (c + 1, c, c - 1, ...)
// while the slots not yet fixed hold the latest states. Wang-Moin stores every step: into the
// latest slot marked dispensable, at level 0; else over the latest checkpoint, whose level rises by
// one, and slots of a level below its old one become dispensable.

#include <cstdint>
#include <eddy/checkpoint/cost_greedy.hpp>
#include <eddy/checkpoint/schedule.hpp>
#include <eddy/core/host_device.hpp>

namespace eddy {

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
          hand_over_(schedule::beta(2, checkpoints) - 1),
          window_(checkpoints),
          window_end_(checkpoints),
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
        while (step_ < hand_over_) {
            const Decision decision = stumm_walther();
            if (decision.store) return placed(decision.slot);
            ++step_;
        }
        if (checkpoints_ == 1) return nothing_more;
        return placed(wang_moin());
    }

  private:
    struct Decision {
        bool store;
        std::int64_t slot;
    };

    [[nodiscard]] EDDY_HD constexpr Placed placed(std::int64_t slot) {
        position_[slot] = step_;
        return {step_++, slot};
    }

    [[nodiscard]] EDDY_HD constexpr Decision stumm_walther() {
        const Decision decision{storing_, next_slot_};
        if (storing_ && ++next_slot_ > window_) next_slot_ = 1;
        if (step_ + 1 == window_end_) storing_ = false;
        if (step_ == window_end_) {
            window_end_ += window_;
            next_slot_ = --window_;
            storing_ = window_ > 0;
        }
        return decision;
    }

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
    std::int64_t step_ = 0;
    std::int64_t hand_over_;
    std::int64_t next_slot_ = 0;
    std::int64_t window_;      // Algorithm I: slots 1 .. window are recycled
    std::int64_t window_end_;  // the step at which the window shrinks
    bool storing_ = true;
    std::int64_t* position_;     // (slot) the step stored, -1: none
    std::int64_t* level_;        // (slot)
    std::int64_t* dispensable_;  // (slot) 0 or 1
};

}  // namespace eddy
