#pragma once
// Online placement that is exactly optimal while the loop has at most (c + 1)(c + 2)/2 - 1 steps:
// Algorithm I of Stumm & Walther (2010, SIAM J. Sci. Comput. 32(2), doi:10.1137/080742439).
//
// Fixed checkpoints land at gaps that shrink by one each (c + 1, c, c - 1, ...), in slots c - 1, c
// - 2, ..., while the slots not yet fixed hold the latest states in turn. No state is advanced more
// than twice. O(1) a step, no memory.
// Test: tests/checkpoint/online_placement.cpp, tests/checkpoint/placement_view.cpp

#include <cstdint>
#include <eddy/core/host_device.hpp>
#include <eddy/core/placed.hpp>
#include <eddy/core/schedule.hpp>

namespace eddy::inline v0 {

/// Generates the stores of Algorithm I in order. `checkpoints` >= 1 counts the slot of x_0.
class Staircase {
  public:
    EDDY_HD constexpr explicit Staircase(std::int64_t checkpoints)
        : end_(schedule::beta(2, checkpoints) - 1),
          window_(checkpoints),
          window_end_(checkpoints) {}

    /// The first step that it does not decide about. By then slot c - i holds the i-th checkpoint
    /// after x_0.
    [[nodiscard]] EDDY_HD constexpr std::int64_t end() const { return end_; }

    /// The next store, or `nothing_more` after the end. x_0 comes first and keeps slot 0.
    [[nodiscard]] EDDY_HD constexpr Placed next() {
        for (; step_ < end_; ++step_) {
            const bool stores = storing_;
            const std::int64_t slot = next_slot_;
            advance();
            if (stores) return {step_++, slot};
        }
        return nothing_more();
    }

    /// As if `next` had given the first stores, of step k in slot k for each slot, from the start.
    EDDY_HD constexpr void pass_first_window() {
        step_ = next_slot_ = window_;
        storing_ = false;
    }

    /// The next stores, as `next` gives them, up to `most` of them, into `stores`; returns how many
    /// there were. A run of stores goes through neighbouring slots: a fraction of a nanosecond each.
    EDDY_HD constexpr std::int64_t fill(Placed* stores, std::int64_t most) {
        std::int64_t count = 0;
        while (count < most) {
            if (!storing_) {
                stores[count] = next();
                if (stores[count] == nothing_more()) break;
                ++count;
                continue;
            }
            std::int64_t run = window_ - next_slot_ + 1;
            if (run > window_end_ - step_) run = window_end_ - step_;
            if (run > most - count) run = most - count;
            // Copies, which no store of the loop can change.
            const std::int64_t step = step_, slot = next_slot_;
            Placed* const first = stores + count;
            for (std::int64_t i = 0; i < run; ++i) first[i] = {step + i, slot + i};
            count += run;
            step_ += run;
            next_slot_ += run;
            if (next_slot_ > window_) next_slot_ = 1;
            if (step_ == window_end_) storing_ = false;
        }
        return count;
    }

  private:
    EDDY_HD constexpr void advance() {
        if (storing_ && ++next_slot_ > window_) next_slot_ = 1;
        if (step_ + 1 == window_end_) storing_ = false;
        if (step_ == window_end_) {
            window_end_ += window_;
            next_slot_ = --window_;
            storing_ = window_ > 0;
        }
    }

    std::int64_t end_;
    std::int64_t step_ = 0;
    std::int64_t next_slot_ = 0;
    std::int64_t window_;      // slots 1 .. window are recycled
    std::int64_t window_end_;  // the step at which the window shrinks
    bool storing_ = true;
};

}  // namespace eddy::inline v0
