#pragma once
// Where checkpoints live. A store has numbered slots; a slot holds one state together with its step
// number, and gives back exactly what was written or throws. The loop decides what is written
// where; a store only keeps it.
//
// The checkpoint schedule is shared by whatever the State holds: one lane, or a whole group of
// lanes.
// Test: tests/checkpoint/disk_store.cpp, tests/checkpoint/tiered_store.cpp

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <eddy/core/error.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

/// Storage for the states of a checkpointed loop.
/// - `reserve(slots)`: slots 0 .. slots-1 may be used from now on, and all are empty or as they were.
///   The number may be far larger than what is used: memory belongs to slots that are written.
/// - `write(slot, step, state)`: the slot now holds `state`, the state before `step`, whatever it
///   held before. If it throws, the slot is empty; all others are as they were.
/// - `read(slot, step)`: what was written; valid until the next call. StorageError, naming slot and
///   step, otherwise.
/// - `will_read(slot, step)`: a hint, as early as it is known, that this slot is read when the
///   slots above it are done: a store may fetch it.
/// - `discard(slot)`: the slot is not read again before it is written.
/// - `release()`: all slots are discarded and resources given back; `reserve` comes before the next
///   write. It is called while an exception is on its way, too, and does not throw.
template <class Store, class State>
concept CheckpointStore = requires(Store store, const State& state, std::int64_t number) {
    store.reserve(number);
    store.write(number, number, state);
    { store.read(number, number) } -> std::convertible_to<const State&>;
    store.will_read(number, number);
    store.discard(number);
    store.release();
};

/// A CheckpointStore in memory. At most a mebibyte of slots is reserved; more are allocated as they
/// are written, so a large number costs nothing.
/// A discarded slot keeps its State, and a later write copy-assigns into its capacity. Once every
/// slot has been written, states that reuse their capacity allocate nothing more.
template <class State>
class MemoryStore {
  public:
    void reserve(std::int64_t slots) {
        slots_.reserve(std::min(static_cast<std::size_t>(slots), reserved_bytes / sizeof(Slot)));
    }

    void write(std::int64_t slot, std::int64_t step, const State& state) {
        const auto index = static_cast<std::size_t>(slot);
        if (index >= slots_.size()) {
            std::optional<State> copy(state);  // `state` may lie in a slot, and slots move
            slots_.resize(index + 1);
            slots_[index].state = std::move(copy);
        } else {
            slots_[index].step = empty;  // stays so if the copy throws
            slots_[index].state = state;
        }
        slots_[index].step = step;
    }

    [[nodiscard]] const State& read(std::int64_t slot, std::int64_t step) const {
        const auto index = static_cast<std::size_t>(slot);
        if (index >= slots_.size() || slots_[index].step != step) throw_not_there(slot, step);
        return *slots_[index].state;
    }

    void will_read(std::int64_t, std::int64_t) {}

    void discard(std::int64_t slot) {
        const auto index = static_cast<std::size_t>(slot);
        if (index < slots_.size()) slots_[index].step = empty;
    }

    void release() { slots_ = {}; }

    /// Slots that have been written: each has a State, which may have memory of its own.
    [[nodiscard]] std::int64_t num_states() const {
        return static_cast<std::int64_t>(slots_.size());
    }
    /// Bytes of the slots themselves.
    [[nodiscard]] std::int64_t num_bytes() const {
        return static_cast<std::int64_t>(slots_.capacity()) * bytes_of_slot;
    }

  private:
    static constexpr std::int64_t empty = -1;
    static constexpr std::size_t reserved_bytes = std::size_t{1} << 20;

    struct Slot {
        std::int64_t step = empty;  // the step that the slot holds, or empty
        std::optional<State> state;
    };

  public:
    static constexpr std::int64_t bytes_of_slot = sizeof(Slot);

  private:
    [[noreturn]] void throw_not_there(std::int64_t slot, std::int64_t step) const {
        const auto index = static_cast<std::size_t>(slot);
        const bool holds_other = index < slots_.size() && slots_[index].step != empty;
        throw StorageError(detail::compose(
            "MemoryStore: slot {} should hold step {} but {}; do not share a store between loops",
            slot, step,
            holds_other ? detail::compose("holds step {}", slots_[index].step) : "is empty"));
    }

    std::vector<Slot> slots_;
};

}  // namespace eddy::inline v0
