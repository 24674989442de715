#pragma once
// Which slot holds which step, ordered by step. New checkpoints always come last, an eviction takes
// one out anywhere: a doubly linked ring over the slots, so that both cost O(1) and nothing is
// sorted or moved between the two sweeps. The ring closes in one link that is no slot, so that
// linking and unlinking know no special case.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace eddy {

/// The stack of live checkpoints, fewer than 2^31. Allocates in `reserve` only.
class CheckpointStack {
  public:
    static constexpr std::int64_t nowhere = -1;

    struct Entry {
        std::int64_t slot;
        std::int64_t step;  // nowhere: there is no such entry
    };

    void reserve(std::int64_t slots) {
        links_.resize(static_cast<std::size_t>(slots) + 1);
        free_.reserve(static_cast<std::size_t>(slots));
        ring_ = static_cast<std::int32_t>(slots);
        clear();
    }

    void clear() {
        for (Link& link : links_) link.step = nowhere;
        at(ring_) = {.step = nowhere, .below = ring_, .above = ring_};
        free_.clear();
        size_ = 0;
    }

    /// The slot now holds `step`, the latest of all, whatever it held before.
    void place(std::int64_t slot, std::int64_t step) {
        if (at(slot).step != nowhere) unlink(slot);
        const auto index = static_cast<std::int32_t>(slot);
        const std::int32_t top = at(ring_).below;
        at(slot) = {.step = step, .below = top, .above = ring_};
        at(top).above = index;
        at(ring_).below = index;
        ++size_;
    }

    /// Lists the unused slots for `push`: once, between the sweeps.
    void collect_free() {
        free_.clear();
        for (std::int64_t slot = ring_; slot-- > 0;) {
            if (at(slot).step == nowhere) free_.push_back(slot);
        }
    }

    /// Takes an unused slot for `step` and returns it.
    std::int64_t push(std::int64_t step) {
        const std::int64_t slot = free_.back();
        free_.pop_back();
        place(slot, step);
        return slot;
    }

    void pop() {
        const std::int64_t slot = at(ring_).below;
        unlink(slot);
        at(slot).step = nowhere;
        free_.push_back(slot);
    }

    [[nodiscard]] Entry top() const { return below(ring_); }
    [[nodiscard]] Entry below_top() const { return below(at(ring_).below); }
    [[nodiscard]] std::int64_t size() const { return size_; }
    [[nodiscard]] std::int64_t num_free() const { return static_cast<std::int64_t>(free_.size()); }

  private:
    struct Link {
        std::int64_t step = nowhere;  // nowhere: the slot is unused, or this is the ring's end
        std::int32_t below = 0;
        std::int32_t above = 0;
    };

    [[nodiscard]] Link& at(std::int64_t slot) { return links_[static_cast<std::size_t>(slot)]; }
    [[nodiscard]] const Link& at(std::int64_t slot) const {
        return links_[static_cast<std::size_t>(slot)];
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

    std::vector<Link> links_;         // (slot), and the ring's end behind them
    std::vector<std::int64_t> free_;  // unused slots, the next one last
    std::int32_t ring_ = 0;           // index of the ring's end
    std::int64_t size_ = 0;
};

}  // namespace eddy
