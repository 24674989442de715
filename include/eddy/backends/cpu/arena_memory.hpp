#pragma once
// Memory for the arena of a worker's groups, kept from call to call; not written before it is used,
// so that a generous plan costs address space alone.
// Test: tests/solve/failing_allocations.cpp, tests/backends/backends.cpp

#include <cstddef>
#include <eddy/core/export.hpp>
#include <eddy/solve/lane/arena.hpp>
#include <utility>

namespace eddy::inline v0::detail {

class EDDY_EXPORT ArenaMemory {
  public:
    ArenaMemory() = default;
    ArenaMemory(ArenaMemory&& other) noexcept
        : first_(std::exchange(other.first_, nullptr)),
          num_bytes_(std::exchange(other.num_bytes_, 0)) {}
    ArenaMemory& operator=(ArenaMemory other) noexcept {
        std::swap(first_, other.first_);
        std::swap(num_bytes_, other.num_bytes_);
        return *this;
    }
    ~ArenaMemory() { release(); }

    /// All of it, at least so many bytes; std::bad_alloc where the machine has no room for them.
    [[nodiscard]] Arena arena(std::size_t bytes) {
        if (bytes > num_bytes_) reserve(bytes);
        return Arena(first_);
    }

  private:
    void reserve(std::size_t bytes);
    void release() noexcept;

    std::byte* first_ = nullptr;
    std::size_t num_bytes_ = 0;
};

}  // namespace eddy::inline v0::detail
