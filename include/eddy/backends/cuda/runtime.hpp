#pragma once
// The CUDA runtime as a grid backend calls it: thin functions that return CUDA's codes. With warp.hpp it
// is all that only a machine with a device runs. For sources that nvcc compiles.
// Test: tests/device/cuda_calls.cu, tests/device/cuda_memory.cu

#include <cuda_runtime.h>
#include <thrust/execution_policy.h>
#include <thrust/find.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/system_error.h>

#include <chrono>
#include <cstddef>
#include <cub/device/device_radix_sort.cuh>
#include <eddy/backends/cuda/warp.hpp>
#include <eddy/backends/grid/runtime.hpp>
#include <new>
#include <string>
#include <thread>

namespace eddy::inline v0::detail {

template <class Work>
__global__ void __launch_bounds__(threads_per_warp, Work::warps_per_processor)
    run_in_each_warp(const __grid_constant__ Work work) {
    work(CudaWarp{});
}

struct CudaRuntime {
    using Warp = CudaWarp;
    using Stream = cudaStream_t;
    static constexpr const char* memory_name = "the memory of the device";

    static int num_devices(int& count) { return cudaGetDeviceCount(&count); }
    static int current_device(int& device) { return cudaGetDevice(&device); }
    static int use_device(int device) { return cudaSetDevice(device); }
    static int num_processors(int device, int& count) {
        return cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
    }
    static int memory_of_device(std::size_t& num_free, std::size_t& in_all) {
        return cudaMemGetInfo(&num_free, &in_all);
    }
    static int place_of(const void* address, int& place) {
        cudaPointerAttributes attributes{};
        const int code = cudaPointerGetAttributes(&attributes, address);
        const bool is_there =
            attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
        place = is_there ? attributes.device : on_the_host;
        return code;
    }
    static int allocate(void*& piece, std::size_t num_bytes) {
        const int code = cudaMalloc(&piece, num_bytes);
        if (code != cudaSuccess) static_cast<void>(cudaGetLastError());  // it is told, not kept
        return code;
    }
    static void release(void* piece) { static_cast<void>(cudaFree(piece)); }
    static int allocate_mapped(void*& here, void*& there, std::size_t num_bytes) {
        const int code =
            cudaHostAlloc(&here, num_bytes, cudaHostAllocMapped | cudaHostAllocPortable);
        return code != cudaSuccess ? code : cudaHostGetDevicePointer(&there, here, 0);
    }
    static void release_mapped(void* here) { static_cast<void>(cudaFreeHost(here)); }
    static int make_stream(Stream& stream) {
        return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    }
    static void release_stream(Stream stream) { static_cast<void>(cudaStreamDestroy(stream)); }
    static int copy(void* to, const void* from, std::size_t num_bytes, Stream stream) {
        return cudaMemcpyAsync(to, from, num_bytes, cudaMemcpyDefault, stream);
    }
    static int synchronize(Stream stream) { return cudaStreamSynchronize(stream); }
    static int is_done(Stream stream, bool& is_done) {
        const cudaError_t code = cudaStreamQuery(stream);
        is_done = code != cudaErrorNotReady;
        return is_done ? code : cudaSuccess;
    }
    static int is_capturing(Stream stream, bool& is_capturing) {
        auto status = cudaStreamCaptureStatusNone;
        const cudaError_t code = cudaStreamIsCapturing(stream, &status);
        is_capturing = status == cudaStreamCaptureStatusActive;
        return code;
    }
    static void pause() { std::this_thread::sleep_for(std::chrono::microseconds(20)); }
    template <class Work>
    static int launch(const Work& work, std::ptrdiff_t num_warps, Stream stream) {
        void* arguments[] = {const_cast<void*>(static_cast<const void*>(&work))};
        return cudaLaunchKernel(reinterpret_cast<const void*>(&run_in_each_warp<Work>),
                                dim3(static_cast<unsigned>(num_warps)), dim3(threads_per_warp),
                                arguments, 0, stream);
    }
    static int clear(void* there, std::size_t num_bytes, Stream stream) {
        return cudaMemsetAsync(there, 0, num_bytes, stream);
    }
    // Thrust throws where CUDA returns a code. What a graph may capture takes no memory.
    template <class Work>
    static int for_each(std::ptrdiff_t count, const Work& work, Stream stream) {
        return code_of([&] {
            thrust::for_each_n(thrust::cuda::par_nosync.on(stream),
                               thrust::counting_iterator<std::ptrdiff_t>(0), count, work);
        });
    }
    template <class Choice>
    static int first_of(std::ptrdiff_t count, const Choice& is_chosen, Stream stream,
                        std::ptrdiff_t& index) {
        const thrust::counting_iterator<std::ptrdiff_t> first(0);
        return code_of([&] {
            index = thrust::find_if(thrust::cuda::par.on(stream), first, first + count, is_chosen) -
                    first;
        });
    }
    static int bytes_to_sort(std::ptrdiff_t count, std::size_t& num_bytes) {
        SortedNumbers none;
        none.count = count;
        return sort(nullptr, num_bytes, none, nullptr);
    }
    static int sort_descending(const SortedNumbers& numbers, Stream stream) {
        std::size_t num_bytes = numbers.scratch_bytes;
        return sort(numbers.scratch, num_bytes, numbers, stream);
    }
    /// About a millisecond of the bus.
    static std::size_t bytes_of_chunk() { return std::size_t{16} << 20; }
    static std::string words(int code) {
        const auto error = static_cast<cudaError_t>(code);
        return std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error);
    }

  private:
    /// Without scratch it says how much it takes.
    static int sort(void* scratch, std::size_t& num_bytes, const SortedNumbers& of, Stream stream) {
        return cub::DeviceRadixSort::SortPairsDescending(
            scratch, num_bytes, of.keys, of.sorted_keys, of.values, of.sorted_values, of.count, 0,
            sorted_bits, stream);
    }
    template <class Task>
    static int code_of(const Task& task) {
        try {
            task();
        } catch (const thrust::system_error& error) {
            return error.code().value();
        } catch (const std::bad_alloc&) {
            return cudaErrorMemoryAllocation;
        }
        return cudaSuccess;
    }
};
static_assert(GridRuntime<CudaRuntime>);

}  // namespace eddy::inline v0::detail
