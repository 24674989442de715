#pragma once
// A device on the host: memory of its own, which host text cannot touch, and kernels on emulated warps.
// `EmulatedDevice` is the backend Cuda but for the thin functions of its runtime and the instructions
// of a warp, which are here.

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <eddy/backends/grid/grid_backend.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "support/emulated_grid.hpp"

namespace support {

/// The pieces of memory that are allocated. Without access but for copies and kernels: who forgets
/// where an array lies ends with a segmentation fault.
class DevicePages {
  public:
    [[nodiscard]] static void* allocate(std::size_t num_bytes, int device) {
        void* const first =
            mmap(nullptr, num_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (first == MAP_FAILED) throw std::bad_alloc();
        std::memset(first, 0xff, num_bytes);  // every number is NaN
        pieces[static_cast<std::byte*>(first)] = {num_bytes, device};
        mprotect(first, num_bytes, PROT_NONE);
        return first;
    }
    static void release(void* first) {
        const auto piece = pieces.find(static_cast<std::byte*>(first));
        munmap(first, piece->second.num_bytes);
        pieces.erase(piece);
    }
    /// The number of the device, or on_the_host.
    [[nodiscard]] static int device_of(const void* address) {
        auto piece = pieces.upper_bound(static_cast<std::byte*>(const_cast<void*>(address)));
        if (piece == pieces.begin()) return eddy::detail::on_the_host;
        --piece;
        return address < piece->first + piece->second.num_bytes ? piece->second.device
                                                                : eddy::detail::on_the_host;
    }
    [[nodiscard]] static std::size_t num_bytes() {
        std::size_t sum = 0;
        for (const auto& [first, piece] : pieces) sum += piece.num_bytes;
        return sum;
    }
    [[nodiscard]] static std::size_t num_pieces() { return pieces.size(); }

    /// While one lives, all pieces may be read and written.
    class Open {
      public:
        Open() { protect(PROT_READ | PROT_WRITE); }
        ~Open() { protect(PROT_NONE); }
        Open(const Open&) = delete;
        Open& operator=(const Open&) = delete;
    };

  private:
    static void protect(int access) {
        for (const auto& [first, piece] : pieces) mprotect(first, piece.num_bytes, access);
    }
    struct Piece {
        std::size_t num_bytes;
        int device;
    };
    static inline std::map<std::byte*, Piece> pieces;
};

/// A thread's sight of its warp, by the emulated grid.
class GridWarp {
  public:
    using Place = eddy::test::Place;

    GridWarp(eddy::test::EmulatedWarp& warp, std::ptrdiff_t index, std::ptrdiff_t num_warps)
        : warp_(&warp), index_(index), num_warps_(num_warps) {}

    [[nodiscard]] std::ptrdiff_t index() const { return index_; }
    [[nodiscard]] std::ptrdiff_t num_warps() const { return num_warps_; }
    [[nodiscard]] int member() const { return warp_->member(); }
    [[nodiscard]] std::uint32_t ballot(bool flag, Place where = Place::current()) const {
        return warp_->ballot(flag, where);
    }
    [[nodiscard]] static int count(std::uint32_t flags) { return std::popcount(flags); }
    [[nodiscard]] bool any(bool flag, Place where = Place::current()) const {
        return warp_->any(flag, where);
    }
    [[nodiscard]] std::int64_t max(std::int64_t x, Place where = Place::current()) const {
        return warp_->max(x, where);
    }
    [[nodiscard]] std::int64_t min(std::int64_t x, Place where = Place::current()) const {
        return warp_->min(x, where);
    }
    [[nodiscard]] std::int64_t sum(std::int64_t x, Place where = Place::current()) const {
        return warp_->sum(x, where);
    }
    [[nodiscard]] std::int64_t from_first(std::int64_t x, Place where = Place::current()) const {
        return warp_->broadcast(x, 0, where);
    }
    void sync(Place where = Place::current()) const { warp_->sync(where); }
    /// What was there before.
    std::int64_t add(std::int64_t& counter, std::int64_t value) const {
        return warp_->fetch_add(counter, value);
    }
    /// Others go first: who waits for a flag would wait for ever.
    bool claim(std::int32_t& flag) const {
        std::int64_t nothing = 0;
        warp_->fetch_add(nothing, 0);
        return std::exchange(flag, 1) == 0;
    }
    void give_back(std::int32_t& flag) const { flag = 0; }
    void lower(std::int64_t& least, std::int64_t value) const {
        std::atomic_ref shared(least);
        for (std::int64_t now = shared.load(); value < now;)
            if (shared.compare_exchange_weak(now, value)) break;
    }

  private:
    eddy::test::EmulatedWarp* warp_;
    std::ptrdiff_t index_, num_warps_;
};

/// What a test may set, and look at.
struct EmulatedState {
    int devices = 2, current = 0, processors = 1;
    std::size_t bytes = std::size_t{64} << 20;  // that there are
    std::uint64_t seed = 1;
    int fails_with = 0;  // all that can fail
    int allocations = 0, launches = 0;
    std::ptrdiff_t idle_warps = 1;  // that a launch rounds up to
};

/// The thin functions: of one device, or of as many as a test says, which fail where it says so.
struct EmulatedRuntime {
    using Warp = GridWarp;
    using Stream = int;
    static constexpr const char* memory_name = "the memory of the emulated device";

    static inline EmulatedState state;

    static int num_devices(int& count) { return set(count, state.devices); }
    static int current_device(int& device) { return set(device, state.current); }
    static int use_device(int device) { return set(state.current, device); }
    /// So few that warps wait for the arenas of others.
    static int num_processors(int, int& count) { return set(count, state.processors); }
    static int memory_of_device(std::size_t& num_free, std::size_t& in_all) {
        num_free = state.bytes - DevicePages::num_bytes();
        return set(in_all, state.bytes);
    }
    static int place_of(const void* address, int& place) {
        return set(place, DevicePages::device_of(address));
    }
    static int allocate(void*& piece, std::size_t num_bytes) {
        if (state.fails_with != 0) return state.fails_with;
        if (DevicePages::num_bytes() + num_bytes > state.bytes) return 2;
        ++state.allocations;
        piece = DevicePages::allocate(num_bytes, state.current);
        return 0;
    }
    static void release(void* piece) { DevicePages::release(piece); }
    static int allocate_mapped(void*& here, void*& there, std::size_t num_bytes) {
        ++state.allocations;
        here = there = ::operator new(num_bytes);
        return state.fails_with;
    }
    static void release_mapped(void* here) { ::operator delete(here); }
    static int copy(void* to, const void* from, std::size_t num_bytes, Stream) {
        const DevicePages::Open open;
        std::memcpy(to, from, num_bytes);
        return state.fails_with;
    }
    static int synchronize(Stream) { return state.fails_with; }
    static int is_done(Stream, bool& is_done) {
        is_done = true;
        return state.fails_with;
    }
    static void pause() { std::this_thread::yield(); }
    template <class Work>
    static int launch(const Work& work, std::ptrdiff_t num_warps, Stream) {
        if (state.fails_with != 0) return state.fails_with;
        ++state.launches;
        const DevicePages::Open open;
        const std::ptrdiff_t warps = num_warps + state.idle_warps;
        eddy::test::run_warps(static_cast<int>(warps), state.seed,
                              [&](int warp, eddy::test::EmulatedWarp& threads) {
                                  work(GridWarp(threads, warp, warps));
                              });
        return 0;
    }
    static std::string words(int code) { return "code " + std::to_string(code); }

  private:
    template <class T>
    static int set(T& to, T value) {
        to = value;
        return state.fails_with;
    }
};
static_assert(eddy::detail::GridRuntime<EmulatedRuntime>);

using EmulatedDevice = eddy::GridBackend<EmulatedRuntime>;
static_assert(eddy::Backend<EmulatedDevice>);
using EmulatedMemory = EmulatedDevice::Memory;
static_assert(eddy::DeviceMemory<EmulatedMemory>);

/// A (lane, component) array on the device, each component contiguous.
template <class Real>
class DeviceArray {
  public:
    using memory = EmulatedMemory;
    using Scalar = Real;
    static constexpr bool IsRowMajor = false, IsVectorAtCompileTime = false;

    explicit DeviceArray(const eddy::EnsembleArray<Real>& values, int device = 0)
        : rows_(values.rows()),
          cols_(values.cols()),
          first_(static_cast<Real*>(DevicePages::allocate(num_bytes(), device))) {
        EmulatedRuntime::copy(first_, values.data(), num_bytes(), 0);
    }
    DeviceArray(DeviceArray&& other) noexcept
        : rows_(other.rows_), cols_(other.cols_), first_(std::exchange(other.first_, nullptr)) {}
    DeviceArray& operator=(DeviceArray&&) = delete;
    ~DeviceArray() {
        if (first_) DevicePages::release(first_);
    }

    [[nodiscard]] const Real* data() const { return first_; }
    [[nodiscard]] std::ptrdiff_t rows() const { return rows_; }
    [[nodiscard]] std::ptrdiff_t cols() const { return cols_; }
    [[nodiscard]] static std::ptrdiff_t innerStride() { return 1; }
    [[nodiscard]] std::ptrdiff_t outerStride() const { return rows_; }

  private:
    [[nodiscard]] std::size_t num_bytes() const {
        return static_cast<std::size_t>(rows_ * cols_) * sizeof(Real);
    }
    std::ptrdiff_t rows_, cols_;
    Real* first_;
};

}  // namespace support
