#pragma once
// Which slot holds which step, ordered by step. New checkpoints always come last, an eviction takes
// one out anywhere: a doubly linked ring over the slots, so that both cost O(1) and nothing is
// sorted or moved between the two sweeps. The ring closes in one link that is no slot, so that
// linking and unlinking know no special case. Memory is taken as slots are used, all of it at once
// or not at all: `place` may throw and then changes nothing, whatever takes a slot out does not.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace eddy {

/// The stack of live checkpoints, fewer than 2^31. Allocates in `reserve`, for a few thousand slots,
/// and where more are used for the first time.
class CheckpointStack {
  public:
    static constexpr std::int64_t nowhere = -1;

    struct Entry {
        std::int64_t slot;
        std::int64_t step;  // nowhere: there is no such entry
    };

    void reserve(std::int64_t slots) {
        make_room(static_cast<std::size_t>(std::min(slots, reserved_slots)) + 1);
        num_slots_ = slots;
        clear();
    }

    void clear() {  // within the capacity that `reserve` made
        links_.assign(1, {.step = nowhere, .below = ring, .above = ring});
        free_.clear();
        size_ = 0;
    }

    /// The slot now holds `step`, the latest of all, whatever it held before.
    void place(std::int64_t slot, std::int64_t step) {
        while (slot >= num_touched()) {
            if (links_.size() == links_.capacity()) make_room(2 * links_.capacity());
            links_.push_back({});
        }
        if (at(slot).step != nowhere) unlink(slot);
        const auto index = static_cast<std::int32_t>(slot);
        const std::int32_t top = at(ring).below;
        at(slot) = {.step = step, .below = top, .above = ring};
        at(top).above = index;
        at(ring).below = index;
        ++size_;
    }

    /// Lists the unused slots for `push`: once, between the sweeps.
    void collect_free() {
        free_.clear();
        for (std::int64_t slot = num_touched(); slot-- > 0;) {
            if (at(slot).step == nowhere) free_.push_back(slot);
        }
    }

    /// Takes an unused slot for `step` and returns it.
    std::int64_t push(std::int64_t step) {
        const std::int64_t slot = free_.empty() ? num_touched() : free_.back();
        if (!free_.empty()) free_.pop_back();
        place(slot, step);
        return slot;
    }

    void pop() {
        const std::int64_t slot = at(ring).below;
        unlink(slot);
        at(slot).step = nowhere;
        free_.push_back(slot);
    }

    [[nodiscard]] Entry top() const { return below(ring); }
    [[nodiscard]] Entry below_top() const { return below(at(ring).below); }
    [[nodiscard]] std::int64_t size() const { return size_; }
    [[nodiscard]] std::int64_t num_free() const {
        return static_cast<std::int64_t>(free_.size()) + num_slots_ - num_touched();
    }

  private:
    struct Link {
        std::int64_t step = nowhere;  // nowhere: the slot is unused, or this is the ring's end
        std::int32_t below = 0;
        std::int32_t above = 0;
    };
    static constexpr std::int32_t ring = -1;  // the ring's end
    static constexpr std::int64_t reserved_slots = 4095;

    [[gnu::noinline]] void make_room(std::size_t links) {
        free_.reserve(links);
        links_.reserve(links);
    }

    // Slots from here on have not been used since `clear`: nothing is kept of them.
    [[nodiscard]] std::int64_t num_touched() const {
        return static_cast<std::int64_t>(links_.size()) - 1;
    }

    [[nodiscard]] Link& at(std::int64_t slot) { return links_[static_cast<std::size_t>(slot + 1)]; }
    [[nodiscard]] const Link& at(std::int64_t slot) const {
        return links_[static_cast<std::size_t>(slot + 1)];
    }

    [[nodiscard]] Entry below(std::int64_t slot) const {
        const std::int64_t lower = at(slot).below;
        return {lower, at(lower).step};
    }

    void unlink(std::int64_t slot) {
        // Read one by one: a wider load would wait for the narrower stores of the last placement.
        const std::int32_t below = at(slot).below;
        const std::int32_t above = at(slot).above;
        at(below).above = above;
        at(above).below = below;
        --size_;
    }

    std::vector<Link> links_;         // the ring's end, then (slot) as far as slots were used
    std::vector<std::int64_t> free_;  // slots that were used and are free again, the next one last
    std::int64_t num_slots_ = 0;
    std::int64_t size_ = 0;
};

}  // namespace eddy
