#include "fuzz/memory.hpp"

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace fuzz {

namespace {

constexpr std::int64_t limit = std::int64_t{1} << 30;
std::atomic<std::int64_t> allocated{0}, held{0}, peak{0};

void* allocate(std::size_t size, std::size_t alignment) noexcept {
    // A size beyond any address comes from a number that was not checked.
    if (size > static_cast<std::size_t>(limit) || held + static_cast<std::int64_t>(size) > limit)
        return nullptr;
    const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
    void* memory = alignment <= alignof(std::max_align_t)
                       ? std::malloc(size == 0 ? 1 : size)
                       : std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
    if (memory == nullptr) return nullptr;
    const auto bytes = static_cast<std::int64_t>(malloc_usable_size(memory));
    allocated += bytes;
    const std::int64_t now = held += bytes;
    std::int64_t most = peak;
    while (most < now && !peak.compare_exchange_weak(most, now)) {
    }
    return memory;
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
    if (void* memory = allocate(size, alignment)) return memory;
    throw std::bad_alloc();
}

void give_back(void* memory) noexcept {
    if (memory == nullptr) return;
    held -= static_cast<std::int64_t>(malloc_usable_size(memory));
    std::free(memory);
}

constexpr std::size_t usual = alignof(std::max_align_t);
std::size_t number(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

std::int64_t allocated_bytes() { return allocated; }
std::int64_t held_bytes() { return held; }
std::int64_t peak_bytes() { return peak; }
void forget_peak() { peak = held.load(); }

}  // namespace fuzz

// All forms, so that sanitizers, which bring their own, do not see half of them.
using fuzz::allocate, fuzz::allocate_or_throw, fuzz::give_back, fuzz::number, fuzz::usual;
void* operator new(std::size_t size) { return allocate_or_throw(size, usual); }
void* operator new[](std::size_t size) { return allocate_or_throw(size, usual); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate_or_throw(size, number(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
    return allocate_or_throw(size, number(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return allocate(size, usual);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return allocate(size, usual);
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { give_back(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { give_back(memory); }
