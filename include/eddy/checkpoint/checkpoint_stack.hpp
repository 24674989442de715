#pragma once
// Which slot holds which step, ordered by step. New checkpoints always come last, an eviction takes
// one out anywhere: a doubly linked list over the slots, so that both cost O(1) and nothing is
// sorted or moved between the two sweeps.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace eddy {

/// The stack of live checkpoints. Allocates in `reserve` only.
class CheckpointStack {
  public:
    static constexpr std::int64_t nowhere = -1;

    struct Entry {
        std::int64_t slot;  // nowhere: no entry
        std::int64_t step;
    };

    void reserve(std::int64_t slots) {
        links_.resize(static_cast<std::size_t>(slots));
        free_.reserve(static_cast<std::size_t>(slots));
        clear();
    }

    void clear() {
        for (Link& link : links_) link.step = nowhere;
        free_.clear();
        top_ = nowhere;
        size_ = 0;
    }

    /// The slot now holds `step`, the latest of all, whatever it held before.
    void place(std::int64_t slot, std::int64_t step) {
        if (at(slot).step != nowhere) unlink(slot);
        at(slot) = {.step = step, .below = top_, .above = nowhere};
        if (top_ != nowhere) at(top_).above = slot;
        top_ = slot;
        ++size_;
    }

    /// Lists the unused slots for `push`: once, between the sweeps.
    void collect_free() {
        free_.clear();
        for (std::size_t slot = links_.size(); slot-- > 0;) {
            if (links_[slot].step == nowhere) free_.push_back(static_cast<std::int64_t>(slot));
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
        const std::int64_t slot = top_;
        unlink(slot);
        at(slot).step = nowhere;
        free_.push_back(slot);
    }

    [[nodiscard]] Entry top() const { return entry(top_); }
    [[nodiscard]] Entry below_top() const { return entry(at(top_).below); }
    [[nodiscard]] std::int64_t size() const { return size_; }
    [[nodiscard]] std::int64_t num_free() const { return static_cast<std::int64_t>(free_.size()); }

  private:
    struct Link {
        std::int64_t step = nowhere;  // nowhere: the slot is unused
        std::int64_t below = nowhere;
        std::int64_t above = nowhere;
    };

    [[nodiscard]] Link& at(std::int64_t slot) { return links_[static_cast<std::size_t>(slot)]; }
    [[nodiscard]] const Link& at(std::int64_t slot) const {
        return links_[static_cast<std::size_t>(slot)];
    }

    [[nodiscard]] Entry entry(std::int64_t slot) const {
        return {slot, slot == nowhere ? nowhere : at(slot).step};
    }

    void unlink(std::int64_t slot) {
        const Link link = at(slot);
        if (link.below != nowhere) at(link.below).above = link.above;
        (link.above != nowhere ? at(link.above).below : top_) = link.below;
        --size_;
    }

    std::vector<Link> links_;         // (slot)
    std::vector<std::int64_t> free_;  // unused slots, the next one last
    std::int64_t top_ = nowhere;
    std::int64_t size_ = 0;
};

}  // namespace eddy
