#include "disk_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <eddy/core/error.hpp>
#include <filesystem>
#include <system_error>

namespace eddy::inline v0::detail {
namespace {

std::string reason(int code) { return std::generic_category().message(code); }

/// A name as a message can hold it: a name that makes no sense may be long, or have zero bytes.
std::string shown(std::string name) {
    constexpr std::size_t most = 200;
    if (name.size() > most) name = name.substr(0, most) + "...";
    for (char& letter : name) {
        if (static_cast<unsigned char>(letter) < ' ') letter = '?';
    }
    return "'" + name + "'";
}

std::string usable_directory(std::string directory) {
    std::error_code failure;
    if (directory.empty()) directory = std::filesystem::temp_directory_path(failure).string();
    require_argument(
        std::filesystem::is_directory(directory, failure),
        "DiskStore: {} is not a directory{}; set DiskOptions::directory to an existing "
        "directory that can be written",
        shown(directory), failure ? detail::compose(" ({})", failure.message()) : "");
    return directory;
}

}  // namespace

DiskFile::DiskFile(std::string directory) : directory_(usable_directory(std::move(directory))) {
    open();
}

DiskFile::~DiskFile() { close(); }

void DiskFile::open() {
    path_ = (std::filesystem::path(directory_) / "eddy-checkpoints-XXXXXX").string();
    descriptor_ = ::mkostemp(path_.data(), O_CLOEXEC);
    const int code = errno;
    require_argument(descriptor_ >= 0,
                     "DiskStore: no file can be made in {} ({}); set DiskOptions::directory to a "
                     "directory that can be written",
                     shown(directory_), reason(code));
}

void DiskFile::close() {
    if (descriptor_ < 0) return;
    struct stat mine {
    }, there{};
    const bool same = ::fstat(descriptor_, &mine) == 0 && ::stat(path_.c_str(), &there) == 0 &&
                      mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
    if (same) ::unlink(path_.c_str());
    ::close(descriptor_);
    descriptor_ = -1;
}

std::string DiskFile::write(std::int64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ::ssize_t count = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return "could not be written to " + path_ + " (" + reason(errno) + ")";
        bytes = bytes.subspan(static_cast<std::size_t>(count));
        offset += count;
    }
    return {};
}

void DiskFile::will_read(std::int64_t offset, std::int64_t size) const {
#ifdef POSIX_FADV_WILLNEED
    (void)::posix_fadvise(descriptor_, offset, size,
                          POSIX_FADV_WILLNEED);  // advice: a refusal costs speed alone
#else
    (void)offset, (void)size;
#endif
}

std::string DiskFile::read(std::int64_t offset, std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
        const ::ssize_t count = ::pread(descriptor_, bytes.data(), bytes.size(), offset);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return "could not be read from " + path_ + " (" + reason(errno) + ")";
        if (count == 0) return "lies beyond the end of " + path_ + ": the file was truncated";
        bytes = bytes.subspan(static_cast<std::size_t>(count));
        offset += count;
    }
    return {};
}

bool DiskFile::is_deleted() const {
    struct stat mine {};
    return ::fstat(descriptor_, &mine) != 0 || mine.st_nlink == 0;
}

void DiskFile::clear() {
    // A failure leaves space in use until the file goes, and is no harm otherwise.
    while (::ftruncate(descriptor_, 0) != 0 && errno == EINTR) {
    }
}

std::string DiskFile::sync() {
    return ::fdatasync(descriptor_) == 0 ? std::string()
                                         : "could not be flushed (" + reason(errno) + ")";
}

void DiskFile::recreate() {
    if (!is_deleted()) return;
    close();
    open();
}

}  // namespace eddy::inline v0::detail
