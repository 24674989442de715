#pragma once
// Counts every allocation of the process by replacing the global allocation functions: include it
// in one source file of a program of its own. All forms are replaced, so that sanitizers, which
// bring their own, do not see half of them.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace support {

inline std::atomic<std::int64_t> allocations{0};

inline void* counted_allocation(std::size_t size) noexcept {
    ++allocations;
    return std::malloc(size == 0 ? 1 : size);
}

inline void* counted_allocation_or_throw(std::size_t size) {
    if (void* memory = counted_allocation(size)) return memory;
    throw std::bad_alloc();
}

template <class Action>
std::int64_t allocations_of(Action action) {
    const std::int64_t before = allocations;
    action();
    return allocations - before;
}

}  // namespace support

void* operator new(std::size_t size) { return support::counted_allocation_or_throw(size); }
void* operator new[](std::size_t size) { return support::counted_allocation_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return support::counted_allocation(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return support::counted_allocation(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
