// Checkpoints of device states in page-locked memory: the gradient of a loop of kernels, with few
// slots, against the one with all states on the device. Compiled by the device tests; run on a
// machine with a GPU, it checks itself.
#include <cstdio>
#include <eddy/backends/cuda/pinned_memory.hpp>
#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/checkpoint/offload.hpp>
#include <eddy/checkpoint/tiered_store.hpp>
#include <eddy/checkpoint/while_loop.hpp>
#include <utility>
#include <vector>

__global__ void advance_kernel(const double* x, double* next, int size) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < size) next[i] = x[i] + 0.1 * x[i] * (1 - x[i]);
}

__global__ void pullback_kernel(const double* x, const double* cotangent, double* result,
                                int size) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < size) result[i] = cotangent[i] * (1.1 - 0.2 * x[i]);
}

namespace {

class DeviceArray {
  public:
    explicit DeviceArray(std::size_t size) : size_(size) {
        eddy::cuda_check(cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(double)));
    }
    explicit DeviceArray(const std::vector<double>& values) : DeviceArray(values.size()) {
        eddy::cuda_check(
            cudaMemcpy(data_, values.data(), size_ * sizeof(double), cudaMemcpyHostToDevice));
    }
    DeviceArray(const DeviceArray& other) : DeviceArray(other.size_) {
        eddy::cuda_check(
            cudaMemcpy(data_, other.data_, size_ * sizeof(double), cudaMemcpyDeviceToDevice));
    }
    DeviceArray(DeviceArray&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    DeviceArray& operator=(DeviceArray other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~DeviceArray() { cudaFree(data_); }

    double* data() { return data_; }
    const double* data() const { return data_; }
    std::size_t size() const { return size_; }
    std::vector<double> on_host() const {
        std::vector<double> values(size_);
        eddy::cuda_check(
            cudaMemcpy(values.data(), data_, size_ * sizeof(double), cudaMemcpyDeviceToHost));
        return values;
    }

  private:
    double* data_ = nullptr;
    std::size_t size_ = 0;
};

struct Logistic {
    DeviceArray advance(const DeviceArray& x, std::int64_t) const {
        DeviceArray next(x.size());
        const int size = static_cast<int>(x.size());
        advance_kernel<<<(size + 127) / 128, 128>>>(x.data(), next.data(), size);
        return next;
    }
    DeviceArray pullback(const DeviceArray& x, std::int64_t, const DeviceArray& cotangent) {
        DeviceArray result(x.size());
        const int size = static_cast<int>(x.size());
        pullback_kernel<<<(size + 127) / 128, 128>>>(x.data(), cotangent.data(), result.data(),
                                                     size);
        return result;
    }
};

template <class Store>
std::vector<double> gradient(std::int64_t checkpoints, Store store) {
    std::vector<double> start(1000);
    for (std::size_t i = 0; i < start.size(); ++i) start[i] = 0.001 * static_cast<double>(i);
    eddy::CheckpointedLoop<DeviceArray, Logistic, Store> loop({}, {.checkpoints = checkpoints},
                                                              std::move(store));
    loop.run(DeviceArray(start), [](const DeviceArray&, std::int64_t step) { return step < 100; });
    return loop.reverse(DeviceArray(std::vector<double>(start.size(), 1.0))).on_host();
}

}  // namespace

namespace {

/// The same step as a Differentiable, and its gradient when what each step keeps is its input, in a
/// place.
struct LogisticStep {
    struct Linearization {
        DeviceArray value, input;
        DeviceArray pullback(const DeviceArray& cotangent) const {
            return Logistic{}.pullback(input, 0, cotangent);
        }
    };
    DeviceArray operator()(const DeviceArray& x) const { return Logistic{}.advance(x, 0); }
    Linearization linearize(const DeviceArray& x) const { return {(*this)(x), x}; }
};

template <class Body>
std::vector<double> gradient_of(const Body& body) {
    std::vector<double> start(1000);
    for (std::size_t i = 0; i < start.size(); ++i) start[i] = 0.001 * static_cast<double>(i + 1);
    const auto loop =
        eddy::while_loop([](const DeviceArray&, std::int64_t step) { return step < 40; }, body,
                         {.max_steps = 40, .placement = eddy::Placement::store_all});
    return loop.linearize(DeviceArray(start))
        .pullback(DeviceArray(std::vector<double>(start.size(), 1.0)))
        .on_host();
}

}  // namespace

int main() {
    int devices = 0;
    if (const cudaError_t code = cudaGetDeviceCount(&devices); code != cudaSuccess) {
        std::printf("skipped: no device (%s)\n", cudaGetErrorString(code));
        return 4;
    }
    using Device = eddy::MemoryStore<DeviceArray>;
    using Pinned = eddy::HostStore<DeviceArray, eddy::PinnedMemory>;
    const std::vector<double> expected = gradient(100, Device());
    const bool pinned = gradient(5, Pinned()) == expected;
    const bool tiered = gradient(7, eddy::TieredStore<DeviceArray, Device, Pinned>(3)) == expected;
    // What is read next comes through a stream of its own.
    cudaStream_t ahead = nullptr;
    eddy::cuda_check(cudaStreamCreateWithFlags(&ahead, cudaStreamNonBlocking));
    const eddy::InHostMemory<eddy::PinnedMemory> host{eddy::PinnedMemory(nullptr, ahead)};
    const bool offloaded = gradient_of(eddy::remat(LogisticStep{}, eddy::offload_to(host))) ==
                           gradient_of(LogisticStep{});
    eddy::cuda_check(cudaStreamDestroy(ahead));
    std::printf("pinned %s, device and pinned %s, offloaded %s\n", pinned ? "equal" : "DIFFERENT",
                tiered ? "equal" : "DIFFERENT", offloaded ? "equal" : "DIFFERENT");
    return pinned && tiered && offloaded ? 0 : 1;
}
