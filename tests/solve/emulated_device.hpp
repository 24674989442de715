#pragma once
// A device on the host: memory of its own, which host text cannot touch, and kernels on emulated warps.
// What a backend for a GPU does around the loops, but for the GPU.

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <eddy/solve/call/gradient.hpp>
#include <limits>
#include <map>
#include <new>
#include <type_traits>

#include "solve/warp_backend.hpp"

namespace support {

/// The pieces of memory that are allocated. Without access but for copies and kernels: who forgets
/// where an array lies ends with a segmentation fault.
class DevicePages {
  public:
    [[nodiscard]] static void* allocate(std::size_t num_bytes) {
        void* const first =
            mmap(nullptr, num_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (first == MAP_FAILED) throw std::bad_alloc();
        std::memset(first, 0xff, num_bytes);  // every number is NaN
        pieces[static_cast<std::byte*>(first)] = num_bytes;
        mprotect(first, num_bytes, PROT_NONE);
        return first;
    }
    static void release(void* first) {
        const auto piece = pieces.find(static_cast<std::byte*>(first));
        munmap(first, piece->second);
        pieces.erase(piece);
    }
    [[nodiscard]] static bool holds(const void* address) {
        auto piece = pieces.upper_bound(static_cast<std::byte*>(const_cast<void*>(address)));
        if (piece == pieces.begin()) return false;
        --piece;
        return address < piece->first + piece->second;
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
        for (const auto& [first, num_bytes] : pieces) mprotect(first, num_bytes, access);
    }
    static inline std::map<std::byte*, std::size_t> pieces;
};

struct EmulatedMemory {
    static constexpr const char* name = "the memory of the emulated device";

    [[nodiscard]] static void* allocate(std::size_t num_bytes) {
        return DevicePages::allocate(num_bytes);
    }
    static void release(void* there) { DevicePages::release(there); }
    static void copy_in(void* there, const void* here, std::size_t num_bytes) {
        const DevicePages::Open open;
        std::memcpy(there, here, num_bytes);
    }
    static void copy_out(void* here, const void* there, std::size_t num_bytes) {
        const DevicePages::Open open;
        std::memcpy(here, there, num_bytes);
    }
    [[nodiscard]] static bool holds(const void* address) { return DevicePages::holds(address); }
    template <class Real>
    [[nodiscard]] static eddy::NotFinite first_not_finite(const eddy::EnsembleView<Real>& array) {
        const DevicePages::Open open;
        for (std::ptrdiff_t i = 0; i < array.num_components; ++i) {
            for (std::ptrdiff_t lane = 0; lane < array.num_lanes; ++lane) {
                if (!std::isfinite(array(lane, i))) return {lane, i, double(array(lane, i))};
            }
        }
        return {};
    }
};
static_assert(eddy::DeviceMemory<EmulatedMemory>);

/// A (lane, component) array on the device, each component contiguous.
template <class Real>
class DeviceArray {
  public:
    using memory = EmulatedMemory;
    using Scalar = Real;
    static constexpr bool IsRowMajor = false, IsVectorAtCompileTime = false;

    explicit DeviceArray(const eddy::EnsembleArray<Real>& values)
        : rows_(values.rows()),
          cols_(values.cols()),
          first_(static_cast<Real*>(DevicePages::allocate(num_bytes()))) {
        EmulatedMemory::copy_in(first_, values.data(), num_bytes());
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

/// The backend: warps that stay, and take one group after another.
struct EmulatedDevice {
    struct backend_tag {};

    std::ptrdiff_t resident_warps = 3;

    template <class Real>
    using Lanes = Real;
    template <class Spec>
    using Team = WarpTeam;
    using Memory = EmulatedMemory;
    [[nodiscard]] static EmulatedMemory memory() { return {}; }
    /// Nothing: memory is taken for each call.
    struct Kept {};

    [[nodiscard]] std::ptrdiff_t num_workers(std::ptrdiff_t num_groups) const {
        return std::clamp<std::ptrdiff_t>(num_groups, 1, resident_warps);
    }
    /// As far as the staircase goes.
    [[nodiscard]] static TableStores stores(const eddy::detail::GradientPlan& plan, std::ptrdiff_t,
                                            Kept&) {
        return {plan.checkpoints, nullptr, 0};
    }

    template <class Kernel>
    void launch(const eddy::LaunchPlan& plan, const Kernel& kernel, eddy::detail::CallLink&,
                Kept&) const {
        static_assert(std::is_trivially_copyable_v<Kernel>);
        const std::size_t bytes = eddy::detail::arena_bytes<WarpTeam>(kernel);
        eddy::detail::Mirrors mirrors(memory());
        const Kernel* const on_device = mirrors.in(&kernel, 1);
        std::vector<std::byte> empty(bytes);
        std::vector<std::byte*> arenas;
        for (std::ptrdiff_t warp = 0; warp < plan.num_workers; ++warp)
            arenas.push_back(mirrors.out(empty.data(), static_cast<std::ptrdiff_t>(bytes)));
        const DevicePages::Open open;
        eddy::test::run_warps(static_cast<int>(plan.num_workers), 1,
                              [&](int warp, eddy::test::EmulatedWarp& threads) {
                                  run_warp(plan, *on_device, warp, threads,
                                           arenas[static_cast<std::size_t>(warp)]);
                              });
    }

  private:
    template <class Kernel>
    static void run_warp(const eddy::LaunchPlan& plan, const Kernel& kernel, int warp,
                         eddy::test::EmulatedWarp& threads, std::byte* arena) {
        for (std::ptrdiff_t group = warp; group < plan.num_groups(); group += plan.num_workers) {
            WarpTeam team(threads, plan, warp, group);
            kernel(team, eddy::detail::Arena(arena));
            team.sync();
        }
    }
};
static_assert(eddy::Backend<EmulatedDevice>);

}  // namespace support
