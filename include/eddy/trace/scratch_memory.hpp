#pragma once
// The memory of long vectors while a program is evaluated: a part of the evaluation, or, where loops keep
// long tapes, of the heap, since stacks of threads are short.
// Test: tests/trace/loops_derivatives.cpp

#include <cstddef>
#include <eddy/core/host_device.hpp>
#include <type_traits>
#include <utility>

namespace eddy::inline v0::detail {

/// The most bytes that the tapes of a program take of the stack.
inline constexpr std::size_t most_scratch_bytes = 32768;

/// `size` numbers, uninitialised.
template <class Real, int size, bool is_on_heap>
class ScratchMemory {
  public:
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr Real& operator[](int i) { return numbers_[i]; }
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr const Real& operator[](int i) const {
        return numbers_[i];
    }

  private:
    Real numbers_[size > 0 ? size : 1];
};

/// Each thread keeps one block for the next evaluation; evaluations within others take their own.
template <class Real, int size>
class ScratchMemory<Real, size, true> {
  public:
    constexpr ScratchMemory() {
        if (!std::is_constant_evaluated()) std::swap(numbers_, kept());
        if (numbers_ == nullptr) numbers_ = new Real[static_cast<std::size_t>(size)];
    }
    constexpr ~ScratchMemory() {
        if (!std::is_constant_evaluated()) std::swap(numbers_, kept());
        delete[] numbers_;
    }
    ScratchMemory(const ScratchMemory&) = delete;
    ScratchMemory& operator=(const ScratchMemory&) = delete;

    [[nodiscard]] EDDY_INLINE constexpr Real& operator[](int i) { return numbers_[i]; }
    [[nodiscard]] EDDY_INLINE constexpr const Real& operator[](int i) const { return numbers_[i]; }

  private:
    struct Kept {
        Real* numbers = nullptr;
        Kept() = default;
        Kept(const Kept&) = delete;
        Kept& operator=(const Kept&) = delete;
        ~Kept() { delete[] numbers; }
    };
    static Real*& kept() {
        thread_local Kept block;
        return block.numbers;
    }
    Real* numbers_ = nullptr;
};

}  // namespace eddy::inline v0::detail
