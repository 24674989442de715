#pragma once
// Counts every allocation of the process, and lets the one that is asked for fail, by replacing the
// global allocation functions: include it in one source file of a program of its own. All forms are
// replaced, so that sanitizers, which bring their own, do not see half of them.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace support {

inline std::atomic<std::int64_t> allocations{0};      // so far
inline std::atomic<std::int64_t> allocated_bytes{0};  // so far
inline std::atomic<std::int64_t> live_allocations{0};
inline std::atomic<std::int64_t> allocations_to_failure{0};  // 1: the next fails; <= 0: none does
inline std::atomic<bool> fails_from_then_on{false};

inline bool is_to_fail() noexcept {
    return allocations_to_failure.fetch_sub(1) == 1 ||
           (fails_from_then_on && allocations_to_failure < 0);
}

inline void* counted_allocation(std::size_t size, std::size_t alignment = 0) noexcept {
    ++allocations;
    allocated_bytes += static_cast<std::int64_t>(size);
    if (is_to_fail()) return nullptr;
    void* const memory = alignment == 0
                             ? std::malloc(size == 0 ? 1 : size)
                             : std::aligned_alloc(alignment, (size / alignment + 1) * alignment);
    if (memory != nullptr) ++live_allocations;
    return memory;
}

inline void* counted_allocation_or_throw(std::size_t size, std::size_t alignment = 0) {
    if (void* memory = counted_allocation(size, alignment)) return memory;
    throw std::bad_alloc();
}

inline void counted_release(void* memory) noexcept {
    if (memory != nullptr) --live_allocations;
    std::free(memory);
}

template <class Action>
std::int64_t allocations_of(Action action) {
    const std::int64_t before = allocations;
    action();
    return allocations - before;
}

/// While it lives the `nth` allocation of the process fails, and every later one if so asked.
class FailingAllocation {
  public:
    explicit FailingAllocation(std::int64_t nth, bool and_all_later = false) {
        fails_from_then_on = and_all_later;
        allocations_to_failure = nth;
    }
    FailingAllocation(const FailingAllocation&) = delete;
    FailingAllocation& operator=(const FailingAllocation&) = delete;
    ~FailingAllocation() {
        fails_from_then_on = false;
        allocations_to_failure = 0;
    }
    /// Were there as many allocations?
    [[nodiscard]] bool has_failed() const { return allocations_to_failure <= 0; }
};

}  // namespace support

void* operator new(std::size_t size) { return support::counted_allocation_or_throw(size); }
void* operator new[](std::size_t size) { return support::counted_allocation_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return support::counted_allocation(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return support::counted_allocation(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return support::counted_allocation_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
    return support::counted_allocation_or_throw(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { support::counted_release(memory); }
void operator delete[](void* memory) noexcept { support::counted_release(memory); }
void operator delete(void* memory, std::size_t) noexcept { support::counted_release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { support::counted_release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept {
    support::counted_release(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
    support::counted_release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept { support::counted_release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept {
    support::counted_release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    support::counted_release(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
    support::counted_release(memory);
}
