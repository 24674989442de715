#pragma once
// One temporary file of its own, with plain positioned I/O. Errors come back as text, empty for
// success: the caller knows which slot and step they concern.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace eddy::inline v0::detail {

class DiskFile {
  public:
    /// Creates a file in `directory`; InvalidArgument if that cannot be done.
    explicit DiskFile(std::string directory);
    DiskFile(const DiskFile&) = delete;
    DiskFile& operator=(const DiskFile&) = delete;
    ~DiskFile();  // removes it

    [[nodiscard]] std::string write(std::int64_t offset, std::span<const std::byte> bytes);
    /// Tells the system that this range is about to be read, so that the disk works ahead of the
    /// copies.
    void will_read(std::int64_t offset, std::int64_t size) const;
    [[nodiscard]] std::string read(std::int64_t offset, std::span<std::byte> bytes) const;
    /// True if no name leads to the file any more: its space would be lost with this process, and
    /// somebody meant it to go.
    [[nodiscard]] bool is_deleted() const;
    void clear();
    [[nodiscard]] std::string sync();
    /// A new file, if the old one was deleted.
    void recreate();

    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    void open();
    void close();

    std::string directory_, path_;
    int descriptor_ = -1;
};

}  // namespace eddy::inline v0::detail
