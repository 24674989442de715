#pragma once
// Page-locked host memory for checkpoints of device states, HostStore<State, PinnedMemory>, and for what
// is offloaded, InHostMemory<PinnedMemory>. Copies are asynchronous, in the order of one stream; with a
// second stream what is read next is copied beside the work. Needs the CUDA toolkit; <eddy/eddy.hpp>
// does not include it.
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
    explicit PinnedMemory(cudaStream_t stream = nullptr) : PinnedMemory(stream, stream) {}
    /// Copies to the device that are known early go through the stream `ahead`.
    PinnedMemory(cudaStream_t stream, cudaStream_t ahead) : stream_(stream), ahead_(ahead) {}

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
        (void)cudaStreamSynchronize(ahead_);
        (void)cudaFreeHost(bytes);
    }
    void save(void* host, const void* state, std::size_t size) {
        cuda_check(cudaMemcpyAsync(host, state, size, cudaMemcpyDeviceToHost, stream_));
    }
    void load(void* state, const void* host, std::size_t size) {
        cuda_check(cudaMemcpyAsync(state, host, size, cudaMemcpyHostToDevice, stream_));
    }

    void load_ahead(void* state, const void* host, std::size_t size) {
        let_wait(ahead_, stream_);
        cuda_check(cudaMemcpyAsync(state, host, size, cudaMemcpyHostToDevice, ahead_));
    }
    void arrive() noexcept { let_wait(stream_, ahead_); }

  private:
    /// What is given to the one stream from now on waits for what was given to the other. Where that
    /// cannot be said, the host waits.
    static void let_wait(cudaStream_t waiting, cudaStream_t other) noexcept {
        if (waiting == other) return;
        cudaEvent_t done = nullptr;
        const bool said = cudaEventCreateWithFlags(&done, cudaEventDisableTiming) == cudaSuccess &&
                          cudaEventRecord(done, other) == cudaSuccess &&
                          cudaStreamWaitEvent(waiting, done, 0) == cudaSuccess;
        if (!said) (void)cudaStreamSynchronize(other);
        if (done != nullptr) (void)cudaEventDestroy(done);
    }

    cudaStream_t stream_, ahead_;
};
static_assert(LoadsAhead<PinnedMemory>);

}  // namespace eddy::inline v0
