#pragma once
// Slots of bytes in one file, written and fetched by a background thread: what DiskStore does with
// states, done with bytes.
//
// A slot on disk is its payload, followed by a label: slot, step, size and a 64-bit checksum over
// all of them. The same label is kept in memory, and a read returns bytes only if file and memory
// agree; it throws StorageError if the file is cut short, altered or deleted. The checksum is eight
// lanes of multiply and rotate: any damage within one aligned 64-bit word (any single bit) is
// always found, other damage but for a chance of 2^-64. It guards against accidents, not malice.
// Test: tests/checkpoint/disk_store.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/core/export.hpp>
#include <memory>
#include <span>
#include <string>

namespace eddy::inline v0 {

/// Where and how checkpoints go to disk.
struct DiskOptions {
    /// An existing directory with room for all slots. Empty: the system's directory for temporary
    /// files, which on many systems is memory, not disk.
    std::string directory{};
    /// States in flight between the loop and the disk, each in a buffer of its own; 1 … 4096.
    int buffers = 3;
};

/// One file of slots. Its calls come from one thread at a time; the background thread is its own
/// affair. What goes wrong there, for want of memory too, is thrown by the next call.
class EDDY_EXPORT SlotFile {
  public:
    /// Creates the file. InvalidArgument if the directory is not one, or cannot be written.
    explicit SlotFile(const DiskOptions& options = {});
    SlotFile(SlotFile&&) noexcept;
    SlotFile& operator=(SlotFile&&) noexcept;
    ~SlotFile();  ///< removes the file

    /// All slots are empty; slots 0 … slots - 1 may be written. Makes a new file if the old one was
    /// deleted.
    void reserve(std::int64_t slots);

    /// A buffer of `size` bytes for what goes into `slot`; waits while all buffers are on their way
    /// to disk.
    [[nodiscard]] std::span<std::byte> begin_write(std::int64_t slot, std::int64_t step,
                                                   std::size_t size);
    /// Sends the buffer on its way.
    void end_write();

    /// What was written, valid until the next call.
    [[nodiscard]] std::span<const std::byte> read(std::int64_t slot, std::int64_t step);
    /// Fetches the slot in the background if a buffer is free.
    void will_read(std::int64_t slot, std::int64_t step);
    void discard(std::int64_t slot);

    /// Waits until everything is written; with `to_device`, until the device has it.
    void flush(bool to_device = false);
    /// Empties all slots and gives their space back.
    void release();

    [[nodiscard]] const std::string& path() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace eddy::inline v0
