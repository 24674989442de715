#pragma once
// The memory of a team, planned before it starts: the same text first counts the bytes and then hands
// out the pieces, so that plan and use cannot differ.
// Test: tests/solve/arena.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/core/host_device.hpp>
#include <type_traits>

namespace eddy::inline v0::detail {

class Arena {
  public:
    static constexpr std::size_t alignment = 64;

    /// An arena that only counts.
    Arena() = default;
    /// Hands out memory from `first` on, which is aligned.
    EDDY_HD explicit Arena(std::byte* first) : first_(first) {}

    /// Room for `count` numbers or plain structs, not written yet; null where it only counts.
    template <class T>
    [[nodiscard]] EDDY_HD T* take(std::int64_t count) {
        static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignment);
        return reinterpret_cast<T*>(take_bytes(static_cast<std::size_t>(count) * sizeof(T)));
    }
    [[nodiscard]] EDDY_HD std::size_t num_bytes() const { return num_bytes_; }

  private:
    EDDY_HD std::byte* take_bytes(std::size_t bytes) {
        num_bytes_ = (num_bytes_ + alignment - 1) / alignment * alignment;
        std::byte* const piece = first_ ? first_ + num_bytes_ : nullptr;
        num_bytes_ += bytes;
        return piece;
    }

    std::byte* first_ = nullptr;
    std::size_t num_bytes_ = 0;
};

}  // namespace eddy::inline v0::detail
