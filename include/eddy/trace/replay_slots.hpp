#pragma once
// Which states of a loop are kept while it runs, of a number of turns that is not known: online
// checkpointing (core/online_treeverse.hpp), and binomial once the way back has begun (core/schedule.hpp).
// It knows turns and slots, no states.
// Test: tests/trace/loops_derivatives.cpp

#include <eddy/core/online_treeverse.hpp>
#include <eddy/core/schedule.hpp>

namespace eddy::inline v0::detail {

template <int most>
class ReplaySlots {
  public:
    EDDY_HD constexpr ReplaySlots() : placement_(most, workspace_) {}
    ReplaySlots(const ReplaySlots&) = delete;
    ReplaySlots& operator=(const ReplaySlots&) = delete;

    /// Before the first turn; with the first `count` slots.
    EDDY_HD constexpr void restart(int count) {
        count_ = count;
        for (int slot = 0; slot < count_; ++slot) turn_[slot] = -1;
        placement_ = OnlineTreeverse(count, workspace_);
        next_ = placement_.next();
    }
    /// The slot into which the state before this turn goes; −1: none.
    [[nodiscard]] EDDY_HD constexpr int place(int turn) {
        if (next_.step != turn) return -1;
        const auto slot = static_cast<int>(next_.slot);
        turn_[slot] = turn;
        next_ = placement_.next();
        return slot;
    }

    /// Begins a replay up to the state before `turn`: the slot to start from. Later states are given up.
    [[nodiscard]] EDDY_HD constexpr int begin_replay(int turn) {
        int nearest = 0;
        for (int slot = 0; slot < count_; ++slot) {
            if (turn_[slot] > turn) turn_[slot] = -1;
            if (turn_[slot] > turn_[nearest]) nearest = slot;
        }
        start_ = turn_[nearest];
        end_ = turn;
        return nearest;
    }
    /// The turn whose state that slot holds.
    [[nodiscard]] EDDY_HD constexpr int first_turn() const { return start_; }
    /// The slot into which the replay puts the state before this turn; −1: none.
    [[nodiscard]] EDDY_HD constexpr int place_again(int turn) {
        int num_free = 0, free = -1;
        for (int slot = 0; slot < count_; ++slot) {
            if (turn_[slot] >= 0) continue;
            ++num_free;
            free = slot;
        }
        const std::int64_t distance = schedule::split(end_ - start_ + 1, num_free + 1);
        if (distance == 0 || turn != start_ + distance) return -1;
        start_ = turn_[free] = turn;
        return free;
    }

  private:
    int count_ = 0, start_ = 0, end_ = 0;
    int turn_[most]{};                    // (slot) whose state it holds; −1: none
    std::int64_t workspace_[3 * most]{};  // of the placement
    OnlineTreeverse placement_;
    Placed next_{0, 0};
};

/// Of an evaluation that keeps all states.
struct NoReplays {
    [[nodiscard]] EDDY_HD constexpr NoReplays& operator[](int) { return *this; }
    EDDY_HD constexpr void restart(int) const {}
    [[nodiscard]] EDDY_HD constexpr int place(int) const { return -1; }
};

}  // namespace eddy::inline v0::detail
