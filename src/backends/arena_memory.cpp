#include <eddy/backends/cpu/arena_memory.hpp>
#include <new>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

namespace eddy::inline v0::detail {

#if defined(MAP_ANONYMOUS)

namespace {

struct NoAddressSpace : std::bad_alloc {
    [[nodiscard]] const char* what() const noexcept override {
        return "eddy: there is no address space for the states and logs of this call; give a "
               "smaller memory_budget, fewer threads, or a higher limit (ulimit -v)";
    }
};

}  // namespace

// Pages that nobody has written to take no memory.
void ArenaMemory::reserve(std::size_t bytes) {
    release();
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS
#if defined(MAP_NORESERVE)
                          | MAP_NORESERVE
#endif
        ;
    void* const first = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (first == MAP_FAILED) throw NoAddressSpace();
    first_ = static_cast<std::byte*>(first);
    num_bytes_ = bytes;
}

void ArenaMemory::release() noexcept {
    if (first_) munmap(first_, num_bytes_);
    first_ = nullptr;
    num_bytes_ = 0;
}

#else

void ArenaMemory::reserve(std::size_t bytes) {
    release();
    first_ = static_cast<std::byte*>(::operator new(bytes, std::align_val_t(Arena::alignment)));
    num_bytes_ = bytes;
}

void ArenaMemory::release() noexcept {
    ::operator delete(first_, std::align_val_t(Arena::alignment));
    first_ = nullptr;
    num_bytes_ = 0;
}

#endif

}  // namespace eddy::inline v0::detail
