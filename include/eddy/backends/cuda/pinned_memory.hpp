#pragma once
// Page-locked host memory for checkpoints of device states: HostStore<State, PinnedMemory>. Copies
// are asynchronous, in the order of one stream. Needs the CUDA toolkit; <eddy/eddy.hpp> does not
// include it.
// Test: tests/device/pinned_memory.cu

#include <cuda_runtime_api.h>

#include <cstddef>
#include <eddy/backends/cuda/cuda_check.hpp>
#include <eddy/checkpoint/host_store.hpp>

namespace eddy::inline v0 {

/// A TransferMemory. All work on the states must be in `stream` too: then a copy is done before
/// what follows it begins, and the host waits for none. Page-locked memory is taken from every
/// other process: keep slots few, or put a DiskStore behind.
class PinnedMemory {
  public:
    explicit PinnedMemory(cudaStream_t stream = nullptr) : stream_(stream) {}

    void* allocate(std::size_t size) {
        void* bytes = nullptr;
        cuda_check(cudaMallocHost(&bytes, size));
        return bytes;
    }
    /// Waits for the copies that are under way.
    void deallocate(void* bytes, std::size_t) noexcept {
        // Called while a store goes: an error here has shown itself, or will, in a call that may
        // throw.
        (void)cudaStreamSynchronize(stream_);
        (void)cudaFreeHost(bytes);
    }
    void save(void* host, const void* state, std::size_t size) {
        cuda_check(cudaMemcpyAsync(host, state, size, cudaMemcpyDeviceToHost, stream_));
    }
    void load(void* state, const void* host, std::size_t size) {
        cuda_check(cudaMemcpyAsync(state, host, size, cudaMemcpyHostToDevice, stream_));
    }

  private:
    cudaStream_t stream_;
};
static_assert(TransferMemory<PinnedMemory>);

}  // namespace eddy::inline v0
