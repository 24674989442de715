#include <eddy/backends/cpu/arena_memory.hpp>
#include <mutex>
#include <new>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

namespace eddy::inline v0::detail {

#if defined(MAP_ANONYMOUS) && defined(MADV_DONTNEED)

namespace {

struct NoAddressSpace : std::bad_alloc {
    [[nodiscard]] const char* what() const noexcept override {
        return "eddy: there is no address space for the states and logs of this call; give a "
               "smaller memory_budget, fewer threads, or a higher limit (ulimit -v)";
    }
};

struct Mapping {
    std::byte* first = nullptr;
    std::size_t num_bytes = 0;
};

/// Mappings that wait for another call. To map one, to meet each of its pages for the first time and to unmap it takes
/// longer than a short solve.
class IdleMappings {
  public:
    /// None where none waits.
    [[nodiscard]] Mapping take() {
        const std::lock_guard lock(mutex_);
        return count_ > 0 ? idle_[--count_] : Mapping{};
    }
    /// False where there is no room for one more.
    [[nodiscard]] bool give(Mapping mapping) {
        // Memory goes back to the system, but for what a short solve writes.
        if (mapping.num_bytes > kept_bytes &&
            madvise(mapping.first + kept_bytes, mapping.num_bytes - kept_bytes, MADV_DONTNEED) != 0)
            return false;
        const std::lock_guard lock(mutex_);
        if (count_ == most) return false;
        idle_[count_++] = mapping;
        return true;
    }

  private:
    static constexpr std::size_t kept_bytes = std::size_t{1} << 22;
    static constexpr int most = 8;

    std::mutex mutex_;
    Mapping idle_[most]{};
    int count_ = 0;
};
constinit IdleMappings idle;

void unmap(Mapping mapping) noexcept {
    if (mapping.first) munmap(mapping.first, mapping.num_bytes);
}
/// Null where there is no room.
std::byte* map(std::size_t bytes) {
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS
#if defined(MAP_NORESERVE)
                          | MAP_NORESERVE
#endif
        ;
    void* const first = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return first == MAP_FAILED ? nullptr : static_cast<std::byte*>(first);
}

}  // namespace

// Pages that nobody has written to take no memory.
void ArenaMemory::reserve(std::size_t bytes) {
    release();
    Mapping mapping = idle.take();
    if (mapping.num_bytes < bytes) {
        unmap(mapping);
        mapping = {map(bytes), bytes};
    }
    while (!mapping.first) {
        const Mapping other = idle.take();
        if (!other.first) throw NoAddressSpace();
        unmap(other);
        mapping.first = map(bytes);
    }
    first_ = mapping.first;
    num_bytes_ = mapping.num_bytes;
}

void ArenaMemory::release() noexcept {
    if (first_ && !idle.give({first_, num_bytes_})) unmap({first_, num_bytes_});
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
