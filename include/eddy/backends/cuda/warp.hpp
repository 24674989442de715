#pragma once
// A thread's sight of its warp, in instructions of a device. For sources that nvcc compiles.
// Test: tests/device/cuda_oracle.cu

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace eddy::inline v0::detail {

inline constexpr int threads_per_warp = 32;

/// See grid/grid_team.hpp: a block is a warp. Every collective is reached by all 32 threads.
class CudaWarp {
  public:
    /// Nobody checks where collectives are called.
    struct Place {
        [[nodiscard]] __host__ __device__ static constexpr Place current() { return {}; }
    };

    [[nodiscard]] __device__ std::ptrdiff_t index() const { return std::ptrdiff_t{blockIdx.x}; }
    [[nodiscard]] __device__ std::ptrdiff_t num_warps() const { return std::ptrdiff_t{gridDim.x}; }
    [[nodiscard]] __device__ int member() const { return static_cast<int>(threadIdx.x); }

    /// Which of so many things is likely free. There are as many for each processor, and each of its warps takes one:
    /// whoever was here before has most likely left this one.
    [[nodiscard]] __device__ std::ptrdiff_t likely_free(std::ptrdiff_t count) const {
        unsigned processor, num_processors, warp;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(processor));
        asm volatile("mov.u32 %0, %%nsmid;" : "=r"(num_processors));
        asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
        const unsigned all_of_them = static_cast<unsigned>(count);
        const unsigned each = all_of_them / num_processors;
        const unsigned number = processor * each + (warp < each ? warp : 0);
        return number < all_of_them ? number : 0;
    }

    [[nodiscard]] __device__ std::uint32_t ballot(bool flag, Place = {}) const {
        return __ballot_sync(all, flag);
    }
    [[nodiscard]] __device__ static int count(std::uint32_t flags) { return __popc(flags); }
    [[nodiscard]] __device__ bool any(bool flag, Place = {}) const {
        return __any_sync(all, flag) != 0;
    }
    [[nodiscard]] __device__ std::int64_t max(std::int64_t x, Place = {}) const {
        return reduce(x, [](std::int64_t a, std::int64_t b) { return a < b ? b : a; });
    }
    [[nodiscard]] __device__ std::int64_t min(std::int64_t x, Place = {}) const {
        return reduce(x, [](std::int64_t a, std::int64_t b) { return b < a ? b : a; });
    }
    [[nodiscard]] __device__ std::int64_t sum(std::int64_t x, Place = {}) const {
        return reduce(x, [](std::int64_t a, std::int64_t b) { return a + b; });
    }
    [[nodiscard]] __device__ std::int64_t from_first(std::int64_t x, Place = {}) const {
        return __shfl_sync(all, static_cast<long long>(x), 0);
    }
    __device__ void sync(Place = {}) const { __syncwarp(); }

    __device__ void fetch_ahead(const void* address) const {
        asm volatile("prefetch.global.L1 [%0];" ::"l"(address));
    }

    /// The time of a clock that all warps share.
    [[nodiscard]] __device__ static std::int64_t nanoseconds() {
        long long now;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        return now;
    }

    // Memory that others use meanwhile, or the host: whole numbers, from where all see the same.

    template <class Number>
    [[nodiscard]] __device__ static Number read(const Number& number) {
        return static_cast<const volatile Number&>(number);
    }
    template <class Number>
    __device__ static void write(Number& number, Number value) {
        static_cast<volatile Number&>(number) = value;
    }
    /// What was written, to the host as well.
    __device__ static void publish() { __threadfence_system(); }

    /// What was there before.
    __device__ std::int64_t add(std::int64_t& counter, std::int64_t value) const {
        return static_cast<std::int64_t>(atomicAdd(reinterpret_cast<unsigned long long*>(&counter),
                                                   static_cast<unsigned long long>(value)));
    }
    /// False where something else is there than was expected.
    __device__ bool replace(std::int64_t& number, std::int64_t expected, std::int64_t by) const {
        const auto before = static_cast<unsigned long long>(expected);
        return atomicCAS(reinterpret_cast<unsigned long long*>(&number), before,
                         static_cast<unsigned long long>(by)) == before;
    }
    /// Claims a flag that is zero; false where it is not.
    __device__ bool claim(std::int32_t& flag) const {
        const bool is_ours = atomicCAS(&flag, 0, 1) == 0;
        if (is_ours) __threadfence();
        return is_ours;
    }
    /// Gives a flag back after all that was written under it.
    __device__ void give_back(std::int32_t& flag) const {
        __threadfence();
        atomicExch(&flag, 0);
    }

  private:
    static constexpr unsigned all = 0xffffffff;
    template <class Combine>
    __device__ static std::int64_t reduce(std::int64_t x, Combine combine) {
        for (int distance = 16; distance > 0; distance /= 2)
            x = combine(x, static_cast<std::int64_t>(
                               __shfl_xor_sync(all, static_cast<long long>(x), distance)));
        return x;
    }
};

}  // namespace eddy::inline v0::detail
