#pragma once
// GPU threads on one host thread: a warp is 32 fibers that run one program each.
//
// Fibers change over only at collectives and atomics, to a fiber drawn by a seeded generator: a run is repeatable, and another seed
// is another interleaving. A collective checks that all members reach the same call, in file, line and column; where they do not,
// where one has returned, or where nobody can go on, `run_warps` throws std::runtime_error that names both places.
//
// Memory is ordered by `sync`, by `sync_block` and by both ends of run_warps, and by nothing else: as on a device, votes and shuffles
// order none. ThreadSanitizer knows each fiber as a thread, and so finds races with no second thread; AddressSanitizer knows the
// stacks. Give it something to find: shared memory of the exact size, filled with NaN.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <source_location>
#include <type_traits>

namespace eddy::test {

/// Where a collective is called. clang 14 has no std::source_location, g++ 12 no __builtin_COLUMN.
#ifdef __cpp_lib_source_location
using Place = std::source_location;
#else
class Place {
  public:
    static constexpr Place current(const char* file = __builtin_FILE(),
                                   unsigned line = __builtin_LINE(),
                                   unsigned column = __builtin_COLUMN()) {
        Place place;
        place.file_ = file, place.line_ = line, place.column_ = column;
        return place;
    }
    constexpr const char* file_name() const { return file_; }
    constexpr unsigned line() const { return line_; }
    constexpr unsigned column() const { return column_; }

  private:
    const char* file_ = "";
    unsigned line_ = 0, column_ = 0;
};
#endif

/// One member's sight of its warp. Every collective is to be reached by all members, each from the same place.
class EmulatedWarp {
  public:
    static constexpr int num_members = 32;
    using Values = std::array<std::uint64_t, num_members>;
    struct Fiber;

    explicit EmulatedWarp(Fiber& fiber) : fiber_(fiber) {}
    EmulatedWarp(const EmulatedWarp&) = delete;
    EmulatedWarp& operator=(const EmulatedWarp&) = delete;

    int member() const;

    /// The one collective that the others are made of: the value of each member, until this member's next exchange.
    const Values& exchange(std::uint64_t value, bool orders_memory, const char* what,
                           const Place& where);

    /// Bit `member` is that member's claim.
    std::uint32_t ballot(bool claim, Place where = Place::current()) {
        return claims(claim, "ballot", where);
    }
    bool any(bool claim, Place where = Place::current()) {
        return claims(claim, "any", where) != 0;
    }
    bool all(bool claim, Place where = Place::current()) {
        return claims(claim, "all", where) == ~std::uint32_t{0};
    }

    std::int64_t max(std::int64_t value, Place where = Place::current()) {
        return reduce(value, "max", where, [](auto a, auto b) { return a < b ? b : a; });
    }
    std::int64_t min(std::int64_t value, Place where = Place::current()) {
        return reduce(value, "min", where, [](auto a, auto b) { return b < a ? b : a; });
    }
    std::int64_t sum(std::int64_t value, Place where = Place::current()) {
        return reduce(value, "sum", where, [](auto a, auto b) { return a + b; });
    }

    /// What member `from` holds.
    template <class T>
    T broadcast(const T& value, int from, Place where = Place::current()) {
        static_assert(std::is_trivially_copyable_v<T>, "broadcast: registers are copied by bits");
        T received = value;
        for (std::size_t offset = 0; offset < sizeof(T); offset += sizeof(std::uint64_t)) {
            const std::size_t size = std::min(sizeof(std::uint64_t), sizeof(T) - offset);
            std::uint64_t word = 0;
            std::memcpy(&word, reinterpret_cast<const std::byte*>(&value) + offset, size);
            word = exchange(word, false, "broadcast", where).at(static_cast<std::size_t>(from));
            std::memcpy(reinterpret_cast<std::byte*>(&received) + offset, &word, size);
        }
        return received;
    }

    /// Orders memory among the members of the warp.
    void sync(Place where = Place::current()) { (void)exchange(0, true, "sync", where); }
    /// Orders memory among all warps of the run, each member of which has to come.
    void sync_block(Place where = Place::current());

    /// Adds to a counter that threads share, and returns what was there before. Others go first, or the counter were never contended.
    std::int64_t fetch_add(std::int64_t& counter, std::int64_t value) {
        yield();
        return std::atomic_ref(counter).fetch_add(value, std::memory_order_relaxed);
    }

  private:
    void yield();

    std::uint32_t claims(bool claim, const char* what, const Place& where) {
        std::uint32_t bits = 0;
        const Values& values = exchange(claim, false, what, where);
        for (std::size_t i = 0; i < values.size(); ++i) bits |= (values[i] != 0 ? 1u : 0u) << i;
        return bits;
    }
    std::int64_t reduce(std::int64_t value, const char* what, const Place& where, auto combine) {
        const Values& values = exchange(static_cast<std::uint64_t>(value), false, what, where);
        auto result = static_cast<std::int64_t>(values[0]);
        for (std::size_t i = 1; i < values.size(); ++i)
            result = combine(result, static_cast<std::int64_t>(values[i]));
        return result;
    }

    Fiber& fiber_;
};

/// Runs thread_program(warp, team) for each member of each warp, and rethrows what one of them throws. After a failure the other
/// fibers are left where they are: their destructors do not run.
void run_warps(int num_warps, std::uint64_t seed,
               const std::function<void(int warp, EmulatedWarp& team)>& thread_program);

}  // namespace eddy::test
