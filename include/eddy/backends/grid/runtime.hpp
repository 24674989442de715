#pragma once
// What a grid backend asks of a machine with kernels: a few thin functions, each of which returns a
// code, 0 where it is done. Those of CUDA are in cuda/runtime.hpp; tests have others, which run the
// same launcher on the host. Codes are CUDA's.
// Test: tests/solve/emulated_device.cpp

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <eddy/backends/cuda/cuda_error.hpp>
#include <eddy/core/host_device.hpp>
#include <string>

namespace eddy::inline v0::detail {

/// Where an address lies: the number of a device, or on the host.
inline constexpr int on_the_host = -1;

/// A kernel that no code is asked for, and what is done for each of so many indices.
struct AnyWork {
    static constexpr int warps_per_processor = 1;

    EDDY_HD void operator()(std::ptrdiff_t) const {}
};
struct AnyChoice {
    [[nodiscard]] EDDY_HD bool operator()(std::ptrdiff_t) const { return false; }
};

/// Numbers that are brought into the descending order of their keys, of which the lowest bits count; those with one key
/// keep theirs.
inline constexpr int sorted_bits = 24;
struct SortedNumbers {
    std::uint32_t *keys = nullptr, *sorted_keys = nullptr;
    std::ptrdiff_t *values = nullptr, *sorted_values = nullptr;
    std::ptrdiff_t count = 0;
    void* scratch = nullptr;
    std::size_t scratch_bytes = 0;
};

template <class R>
concept GridRuntime = requires(int device, int& number, std::size_t num_bytes, std::size_t& bytes,
                               void*& piece, void* there, const void* from, bool& flag,
                               typename R::Stream stream, const AnyWork& work, int code,
                               std::ptrdiff_t count, const AnyChoice& is_chosen,
                               std::ptrdiff_t& index, const SortedNumbers& numbers) {
    typename R::Warp;  // a thread's sight of its warp: grid_team.hpp
    { R::memory_name } -> std::convertible_to<const char*>;
    { R::num_devices(number) } -> std::same_as<int>;
    { R::current_device(number) } -> std::same_as<int>;
    { R::use_device(device) } -> std::same_as<int>;
    { R::num_processors(device, number) } -> std::same_as<int>;
    { R::memory_of_device(bytes, bytes) } -> std::same_as<int>;  // free, in all
    { R::place_of(from, number) } -> std::same_as<int>;
    { R::allocate(piece, num_bytes) } -> std::same_as<int>;
    R::release(there);
    { R::allocate_mapped(piece, piece, num_bytes) } -> std::same_as<int>;  // here, there
    R::release_mapped(there);
    // Streams of the current device, beside its default one.
    { R::make_stream(stream) } -> std::same_as<int>;
    R::release_stream(stream);
    // In the order of the stream. What is copied from or to may be gone when it returns, if it is
    // pageable memory of the host.
    { R::copy(there, from, num_bytes, stream) } -> std::same_as<int>;
    { R::synchronize(stream) } -> std::same_as<int>;
    { R::is_done(stream, flag) } -> std::same_as<int>;
    {
        R::is_capturing(stream, flag)
        } -> std::same_as<int>;  // into a graph, in the place of working
    {R::pause()};                // of the thread that waits
    {
        R::launch(work, device, stream)
        } -> std::same_as<int>;  // work(warp) in so many warps or more
    { R::clear(there, num_bytes, stream) } -> std::same_as<int>;  // every byte is zero
    // For so many indices from 0 on; algorithms of Thrust and of CUB do it.
    { R::for_each(count, work, stream) } -> std::same_as<int>;
    // The first that is chosen, or `count`, when that is known.
    { R::first_of(count, is_chosen, stream, index) } -> std::same_as<int>;
    { R::bytes_to_sort(count, bytes) } -> std::same_as<int>;  // of scratch
    { R::sort_descending(numbers, stream) } -> std::same_as<int>;
    { R::words(code) } -> std::convertible_to<std::string>;
    // So much to copy that it is worth a launch of its own, which others overlap with.
    { R::bytes_of_chunk() } -> std::same_as<std::size_t>;
};

/// Throws where a function of the runtime was not done; `what` was being tried.
template <class Runtime>
void require_done(int code, const char* what) {
    constexpr int no_device = 100, no_driver = 35, no_code = 209;
    if (code == 0) return;
    const std::string said = " (" + std::string(Runtime::words(code)) + ")";
    if (code == no_device)
        throw CudaError("Cuda: this machine has no CUDA device" + said +
                        "; use Serial{}, or run where there is one");
    if (code == no_driver)
        throw CudaError("Cuda: the CUDA driver is missing, or older than this program needs" +
                        said + "; install a newer one, or use Serial{}");
    if (code == no_code)
        throw CudaError("Cuda: the program has no code for this device" + said +
                        "; add its architecture to CMAKE_CUDA_ARCHITECTURES");
    throw CudaError("Cuda: " + std::string(what) + " failed" + said +
                    "; errors of earlier kernels of the program show here, too");
}

/// Waits for what is at work in a stream of a device, and throws nothing.
template <class Runtime>
void synchronize_quietly(int device, const typename Runtime::Stream& stream) {
    int before = 0;
    if (Runtime::current_device(before) != 0) return;
    static_cast<void>(Runtime::use_device(device));
    static_cast<void>(Runtime::synchronize(stream));
    static_cast<void>(Runtime::use_device(before));
}

/// Makes a device the current one of this thread while it lives.
template <class Runtime>
class DeviceInUse {
  public:
    explicit DeviceInUse(int device) {
        require_done<Runtime>(Runtime::current_device(before_), "asking for the current device");
        is_another_ = before_ != device;
        if (is_another_)
            require_done<Runtime>(Runtime::use_device(device), "changing the current device");
    }
    ~DeviceInUse() {
        if (is_another_) static_cast<void>(Runtime::use_device(before_));
    }
    DeviceInUse(const DeviceInUse&) = delete;
    DeviceInUse& operator=(const DeviceInUse&) = delete;

  private:
    int before_ = 0;
    bool is_another_ = false;
};

}  // namespace eddy::inline v0::detail
