#pragma once
// A model of Equinox's checkpointed while loop (equinox/internal/_loop/checkpointed.py), from a
// description of its behaviour: which slots the forward sweep overwrites, and where the backward
// sweep, which bisects, stores again. The oracle for "never more evaluations";
// tests/test_while_loop.py of that project publishes 17 evaluation orders.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <eddy/core/placed.hpp>
#include <vector>

namespace support {

using std::int64_t;

class EquinoxForward {
  public:
    explicit EquinoxForward(int64_t checkpoints) : slots_(static_cast<std::size_t>(checkpoints)) {
        next_slot_ = 0;
        window_ = shrink_at_ = checkpoints;
    }

    eddy::Placed next() {
        for (;; ++step_) {
            const auto count = static_cast<int64_t>(slots_.size());
            const bool late = step_ >= (count + 1) * (count + 2) / 2 - 1;
            if (late && count == 1) return eddy::nothing_more();
            const int64_t slot = late ? minimal_repetition() : staircase();
            if (slot < 0) continue;
            slots_[static_cast<std::size_t>(slot)].step = step_;
            return {step_++, slot};
        }
    }

  private:
    struct Slot {
        int64_t step = -1;
        int level = 0;
        bool dispensable = false;
    };

    // Slot to write, or -1. The most recent states rotate through slots 1 .. window; the window
    // closes by one slot, for good, every time it has been walked, and nothing is saved from one
    // step before that.
    int64_t staircase() {
        const int64_t slot = saving_ ? next_slot_ : -1;
        if (saving_) next_slot_ = next_slot_ >= window_ ? 1 : next_slot_ + 1;
        if (step_ == shrink_at_ - 1) saving_ = false;
        if (step_ == shrink_at_) {
            shrink_at_ += window_;
            window_ -= 1;
            next_slot_ = window_;
            saving_ = window_ > 0;
        }
        return slot;
    }

    int64_t minimal_repetition() {
        const auto earlier = [](const Slot& a, const Slot& b) { return a.step < b.step; };
        const auto movable = slots_.begin() + 1;
        auto victim = slots_.end();
        for (auto slot = movable; slot != slots_.end(); ++slot) {
            if (slot->dispensable && (victim == slots_.end() || earlier(*victim, *slot)))
                victim = slot;
        }
        if (victim != slots_.end()) {
            *victim = {};
        } else {
            victim = std::max_element(movable, slots_.end(), earlier);
            for (auto slot = movable; slot != slots_.end(); ++slot) {
                slot->dispensable = slot->level < victim->level;
            }
            victim->level += 1;
        }
        return victim - slots_.begin();
    }

    std::vector<Slot> slots_;
    int64_t step_ = 0;
    int64_t next_slot_, window_, shrink_at_;
    bool saving_ = true;
};

// Where its backward sweep stores next in a gap, as a distance; 0: nowhere.
inline int64_t equinox_split(int64_t length, int64_t free_slots) {
    if (free_slots == 0 || length <= 2) return 0;
    return length - 2 <= free_slots ? 1 : length / 2;
}

// Steps advanced in a gap under that rule, tabulated.
class BisectedGap {
  public:
    BisectedGap(int64_t max_slots, int64_t max_length)
        : stride_(max_length + 1), cost_(static_cast<std::size_t>((max_slots + 1) * stride_)) {
        for (int64_t slots = 1; slots <= max_slots; ++slots) {
            for (int64_t length = 1; length <= max_length; ++length) {
                const int64_t m = equinox_split(length, slots - 1);
                at(length, slots) = m == 0 ? length * (length - 1) / 2
                                           : m + at(length - m, slots - 1) + at(m, slots);
            }
        }
    }

    int64_t operator()(int64_t length, int64_t slots) const {
        return cost_[static_cast<std::size_t>(slots * stride_ + length)];
    }

  private:
    int64_t& at(int64_t length, int64_t slots) {
        return cost_[static_cast<std::size_t>(slots * stride_ + length)];
    }

    int64_t stride_;
    std::vector<int64_t> cost_;  // (slots, length)
};

// The steps its backward sweep evaluates, in order, for a loop of `length` steps.
inline std::vector<int64_t> equinox_backward_order(int64_t checkpoints, int64_t length) {
    checkpoints = std::min(checkpoints, length);
    std::vector<int64_t> slots(static_cast<std::size_t>(checkpoints), -1);
    EquinoxForward forward(checkpoints);
    for (auto placed = forward.next(); placed.step < length; placed = forward.next()) {
        slots[static_cast<std::size_t>(placed.slot)] = placed.step;
    }
    std::erase(slots, -1);
    std::sort(slots.begin(), slots.end());

    std::vector<int64_t> order;
    for (int64_t end = length; end > 0; --end) {
        int64_t checkpoint = slots.back();
        for (int64_t step = checkpoint; step < end; ++step) {
            const auto free_slots = checkpoints - static_cast<int64_t>(slots.size());
            if (step > checkpoint &&
                step == checkpoint + equinox_split(end - checkpoint, free_slots)) {
                slots.push_back(checkpoint = step);
            }
            order.push_back(step);
        }
        if (slots.back() == end - 1) slots.pop_back();
    }
    return order;
}

}  // namespace support
