#pragma once
// Arrays of a device, for its tests.

#include <cstddef>
#include <eddy/backends/cuda.hpp>

#include "solve/problems.hpp"

namespace device {

/// A copy on the device. What is copied from pageable memory may still be on its way when cudaMemcpy returns, and a stream
/// that does not block does not wait for it: here it has arrived.
class OnDevice {
  public:
    explicit OnDevice(const support::Array& values) : rows_(values.rows()), cols_(values.cols()) {
        const std::size_t bytes = values.size() * sizeof(double);
        eddy::cuda_check(cudaMalloc(reinterpret_cast<void**>(&first_), bytes));
        assign(values);
    }
    ~OnDevice() { cudaFree(first_); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;
    [[nodiscard]] auto view() const { return eddy::on_device(first_, rows_, cols_); }
    void assign(const support::Array& values) const {
        eddy::cuda_check(
            cudaMemcpy(first_, values.data(), values.size() * sizeof(double), cudaMemcpyDefault));
        eddy::cuda_check(cudaDeviceSynchronize());
    }
    [[nodiscard]] support::Array values() const {
        support::Array copy(rows_, cols_);
        eddy::cuda_check(
            cudaMemcpy(copy.data(), first_, copy.size() * sizeof(double), cudaMemcpyDefault));
        return copy;
    }

  private:
    double* first_ = nullptr;
    std::ptrdiff_t rows_, cols_;
};

}  // namespace device
