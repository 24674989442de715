#pragma once
// Checkpoints on disk: one file per store, written behind the loop's back and fetched ahead of it
// (slot_file.hpp). Memory in use: the buffers in flight, one for reading, and one State.
// Test: tests/checkpoint/disk_store.cpp

#include <cstdint>
#include <eddy/checkpoint/serializer.hpp>
#include <eddy/checkpoint/slot_file.hpp>
#include <eddy/checkpoint/store.hpp>
#include <optional>
#include <string>

namespace eddy::inline v0 {

/// A CheckpointStore in a file, which is removed with the store.
/// A read returns exactly what was written. If the file was cut short, altered or deleted, the read
/// throws a StorageError that names slot and step. A later call reports a write that failed, such
/// as on a full disk.
template <class State>
class DiskStore {
    static_assert(Serializable<State>,
                  "DiskStore: the state is neither trivially copyable nor a resizable contiguous "
                  "range or dense array of such; "
                  "specialise eddy::Serializer for it");

  public:
    /// InvalidArgument if the directory cannot be written.
    explicit DiskStore(const DiskOptions& options = {}) : file_(options) {}

    void reserve(std::int64_t slots) {
        loaded_slot_ = nothing;
        file_.reserve(slots);
    }

    void write(std::int64_t slot, std::int64_t step, const State& state) {
        if (slot == loaded_slot_) loaded_slot_ = nothing;
        if (!loaded_)
            loaded_ = state;  // what read assigns to: State need not be default constructible
        Serializer<State>::save(
            state, file_.begin_write(slot, step, Serializer<State>::size_bytes(state)));
        file_.end_write();
    }

    /// A state that is read again and again comes from disk once.
    [[nodiscard]] const State& read(std::int64_t slot, std::int64_t step) {
        if (slot == loaded_slot_ && step == loaded_step_) return *loaded_;
        const auto bytes = file_.read(slot, step);
        loaded_slot_ = nothing;
        Serializer<State>::load(bytes, *loaded_);
        loaded_slot_ = slot;
        loaded_step_ = step;
        return *loaded_;
    }

    void will_read(std::int64_t slot, std::int64_t step) {
        if (slot != loaded_slot_) file_.will_read(slot, step);
    }

    void discard(std::int64_t slot) {
        if (slot == loaded_slot_) loaded_slot_ = nothing;
        file_.discard(slot);
    }

    void release() {
        loaded_slot_ = nothing;
        loaded_.reset();
        file_.release();
    }

    /// Waits until everything is written; with `to_device`, until the device has it. No loop needs
    /// this.
    void flush(bool to_device = false) { file_.flush(to_device); }

    [[nodiscard]] const std::string& path() const { return file_.path(); }

  private:
    static constexpr std::int64_t nothing = -1;

    SlotFile file_;
    std::optional<State> loaded_;
    std::int64_t loaded_slot_ = nothing;
    std::int64_t loaded_step_ = nothing;
};

}  // namespace eddy::inline v0
