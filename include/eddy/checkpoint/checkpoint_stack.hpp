#pragma once
// The stack of live checkpoints in memory of its own, which is taken as slots are used, all of it at
// once or not at all: `place` may throw and then changes nothing, whatever takes a slot out does not.
// Test: tests/checkpoint/checkpointed_loop.cpp

#include <algorithm>
#include <cstddef>
#include <eddy/checkpoint/checkpoint_links.hpp>
#include <memory>
#include <utility>

namespace eddy::inline v0 {

/// Allocates in `reserve`, for a few thousand slots, and where more are used for the first time.
class CheckpointStack {
  public:
    using Entry = CheckpointLinks::Entry;
    static constexpr std::int64_t nowhere = CheckpointLinks::nowhere;

    CheckpointStack() = default;
    CheckpointStack(const CheckpointStack& other) : stack_(other.stack_) { take(other.capacity_); }
    CheckpointStack(CheckpointStack&& other) noexcept { swap(other); }
    CheckpointStack& operator=(CheckpointStack other) noexcept {
        swap(other);
        return *this;
    }
    ~CheckpointStack() = default;

    void reserve(std::int64_t slots) {
        const std::int64_t wanted = std::min(slots, reserved_slots);
        if (wanted > capacity_ || !links_) take(wanted);
        stack_ = CheckpointLinks(links_.get(), free_.get(), slots);
    }
    void clear() { stack_.clear(); }

    /// The slot now holds `step`, the latest of all, whatever it held before.
    void place(std::int64_t slot, std::int64_t step) {
        if (slot >= capacity_) take(2 * slot + 1);
        stack_.place(slot, step);
    }
    /// Lists the unused slots for `push`: once, between the sweeps.
    void collect_free() { stack_.collect_free(); }
    /// Takes an unused slot for `step` and returns it.
    std::int64_t push(std::int64_t step) {
        if (stack_.next_free() >= capacity_) take(2 * stack_.next_free() + 1);
        return stack_.push(step);
    }
    void pop() { stack_.pop(); }

    [[nodiscard]] Entry top() const { return stack_.top(); }
    [[nodiscard]] Entry below_top() const { return stack_.below_top(); }
    [[nodiscard]] std::int64_t size() const { return stack_.size(); }
    [[nodiscard]] std::int64_t num_free() const { return stack_.num_free(); }

    static constexpr std::int64_t bytes_of_slot =
        sizeof(CheckpointLinks::Link) + sizeof(std::int64_t);
    [[nodiscard]] std::int64_t num_bytes() const { return (capacity_ + 1) * bytes_of_slot; }

  private:
    static constexpr std::int64_t reserved_slots = 4095;

    using Link = CheckpointLinks::Link;
    [[gnu::noinline]] void take(std::int64_t slots) {
        const auto links = static_cast<std::size_t>(CheckpointLinks::num_links(slots));
        auto more_links = std::make_unique_for_overwrite<Link[]>(links);
        auto more_free = std::make_unique_for_overwrite<std::int64_t[]>(links);
        stack_.move_to(more_links.get(), more_free.get());
        links_ = std::move(more_links);
        free_ = std::move(more_free);
        capacity_ = slots;
    }
    void swap(CheckpointStack& other) noexcept {
        std::swap(links_, other.links_);
        std::swap(free_, other.free_);
        std::swap(capacity_, other.capacity_);
        std::swap(stack_, other.stack_);
    }

    std::unique_ptr<Link[]> links_;         // the ring's end, then (slot)
    std::unique_ptr<std::int64_t[]> free_;  // (slot)
    std::int64_t capacity_ = 0;
    CheckpointLinks stack_;
};

}  // namespace eddy::inline v0
