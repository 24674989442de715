#pragma once
// Which slot holds which step, ordered by step. New checkpoints always come last, an eviction takes
// one out anywhere: a doubly linked ring over the slots, so that both cost O(1) and nothing is
// sorted or moved between the two sweeps. The ring closes in one link that is no slot, so that
// linking and unlinking know no special case. The memory is somebody else's: num_links(slots) links
// and `slots` numbers, on host or device.
// Test: tests/checkpoint/checkpointed_loop.cpp, tests/solve/gradient_plan.cpp

#include <cstdint>
#include <eddy/core/host_device.hpp>

namespace eddy::inline v0 {

/// The stack of live checkpoints, fewer than 2^31, in memory that was planned for them.
class CheckpointLinks {
  public:
    static constexpr std::int64_t nowhere = -1;

    struct Entry {
        std::int64_t slot;
        std::int64_t step;  // nowhere: there is no such entry
    };
    struct Link {
        std::int64_t step;  // nowhere: the slot is unused, or this is the ring's end
        std::int32_t below, above;
    };
    /// Links that so many slots need.
    [[nodiscard]] EDDY_HD static constexpr std::int64_t num_links(std::int64_t slots) {
        return slots + 1;
    }

    CheckpointLinks() = default;
    /// An empty stack of up to `slots` in the memory given.
    EDDY_HD CheckpointLinks(Link* links, std::int64_t* free, std::int64_t slots)
        : links_(links), free_(free), num_slots_(slots) {
        clear();
    }
    /// Copies the contents to other memory, and goes on there.
    EDDY_HD void move_to(Link* links, std::int64_t* free) {
        for (std::int64_t i = 0; links_ != nullptr && i <= num_touched_; ++i) links[i] = links_[i];
        for (std::int64_t i = 0; i < num_listed_; ++i) free[i] = free_[i];
        links_ = links;
        free_ = free;
    }

    EDDY_HD void clear() {
        at(ring) = unused;
        num_touched_ = num_listed_ = size_ = 0;
    }

    /// The slot now holds `step`, the latest of all, whatever it held before.
    EDDY_HD void place(std::int64_t slot, std::int64_t step) {
        while (slot >= num_touched_) at(num_touched_++) = unused;
        if (at(slot).step != nowhere) unlink(slot);
        const auto index = static_cast<std::int32_t>(slot);
        const std::int32_t top = at(ring).below;
        at(slot) = {step, top, ring};
        at(top).above = index;
        at(ring).below = index;
        ++size_;
    }

    /// Lists the unused slots for `push`: once, between the sweeps.
    EDDY_HD void collect_free() {
        num_listed_ = 0;
        for (std::int64_t slot = num_touched_; slot-- > 0;) {
            if (at(slot).step == nowhere) free_[num_listed_++] = slot;
        }
    }

    /// The slot that `push` will take.
    [[nodiscard]] EDDY_HD std::int64_t next_free() const {
        return num_listed_ > 0 ? free_[num_listed_ - 1] : num_touched_;
    }
    /// Takes an unused slot for `step` and returns it.
    EDDY_HD std::int64_t push(std::int64_t step) {
        const std::int64_t slot = next_free();
        if (num_listed_ > 0) --num_listed_;
        place(slot, step);
        return slot;
    }

    EDDY_HD void pop() {
        const std::int64_t slot = at(ring).below;
        unlink(slot);
        at(slot).step = nowhere;
        free_[num_listed_++] = slot;
    }

    [[nodiscard]] EDDY_HD Entry top() const { return below(ring); }
    [[nodiscard]] EDDY_HD Entry below_top() const { return below(at(ring).below); }
    [[nodiscard]] EDDY_HD std::int64_t size() const { return size_; }
    /// Slots that have been used since `clear`: those before this one.
    [[nodiscard]] EDDY_HD std::int64_t num_touched() const { return num_touched_; }
    [[nodiscard]] EDDY_HD std::int64_t num_free() const {
        return num_listed_ + num_slots_ - num_touched_;
    }

  private:
    static constexpr std::int32_t ring = -1;  // the ring's end
    static constexpr Link unused{nowhere, ring, ring};

    [[nodiscard]] EDDY_HD Link& at(std::int64_t slot) { return links_[slot + 1]; }
    [[nodiscard]] EDDY_HD const Link& at(std::int64_t slot) const { return links_[slot + 1]; }

    [[nodiscard]] EDDY_HD Entry below(std::int64_t slot) const {
        const std::int64_t lower = at(slot).below;
        return {lower, at(lower).step};
    }

    EDDY_HD void unlink(std::int64_t slot) {
        // Read one by one: a wider load would wait for the narrower stores of the last placement.
        const std::int32_t below = at(slot).below;
        const std::int32_t above = at(slot).above;
        at(below).above = above;
        at(above).below = below;
        --size_;
    }

    Link* links_ = nullptr;         // the ring's end, then (slot)
    std::int64_t* free_ = nullptr;  // slots that were used and are free again, the next one last
    std::int64_t num_slots_ = 0, num_touched_ = 0, num_listed_ = 0, size_ = 0;
};

}  // namespace eddy::inline v0
