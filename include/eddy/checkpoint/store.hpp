#pragma once
// Where checkpoints live. A store has numbered slots; a slot holds one state together with its step
// number, and gives back exactly what was written or throws. The loop decides what is written
// where; a store only keeps it.
//
// The checkpoint schedule is shared by whatever the State holds: one lane, or a whole group of
// lanes.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <eddy/core/error.hpp>
#include <optional>
#include <string>
#include <vector>

namespace eddy {

/// Storage for the states of a checkpointed loop.
/// - `reserve(slots)`: slots 0 .. slots-1 may be used from now on. May allocate; later calls should
///   not need to.
/// - `write(slot, step, state)`: the slot now holds `state`, the state before `step`, whatever it
///   held before.
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

/// Slots in memory: room is reserved for all of them, and touched as far as slots are written, so
/// that a generous number costs nothing. A discarded slot keeps its State, so that a later write
/// copy-assigns into the capacity it has: once every slot has been written, states that reuse their
/// capacity allocate nothing more.
template <class State>
class MemoryStore {
  public:
    void reserve(std::int64_t slots) { slots_.reserve(static_cast<std::size_t>(slots)); }

    void write(std::int64_t slot, std::int64_t step, const State& state) {
        const auto index = static_cast<std::size_t>(slot);
        if (index >= slots_.size()) slots_.resize(index + 1);
        Slot& target = slots_[index];
        target.step = empty;  // stays so if the copy throws
        target.state = state;
        target.step = step;
    }

    [[nodiscard]] const State& read(std::int64_t slot, std::int64_t step) const {
        const auto index = static_cast<std::size_t>(slot);
        if (index >= slots_.size() || slots_[index].step != step) throw_not_there(slot, step);
        return *slots_[index].state;
    }

    void will_read(std::int64_t, std::int64_t) {}

    void discard(std::int64_t slot) { slots_[static_cast<std::size_t>(slot)].step = empty; }

    void release() { slots_ = {}; }

  private:
    static constexpr std::int64_t empty = -1;

    struct Slot {
        std::int64_t step = empty;  // the step that the slot holds, or empty
        std::optional<State> state;
    };

    [[noreturn]] void throw_not_there(std::int64_t slot, std::int64_t step) const {
        const auto index = static_cast<std::size_t>(slot);
        const bool holds_other = index < slots_.size() && slots_[index].step != empty;
        throw StorageError(
            "MemoryStore: slot " + std::to_string(slot) + " should hold step " +
            std::to_string(step) + " but " +
            (holds_other ? "holds step " + std::to_string(slots_[index].step) : "is empty") +
            "; do not share a store between loops");
    }

    std::vector<Slot> slots_;
};

}  // namespace eddy
