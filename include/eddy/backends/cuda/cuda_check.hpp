#pragma once
// CUDA's error codes as exceptions. Needs the CUDA toolkit; <eddy/eddy.hpp> does not include it.
// Test: tests/device/cuda_memory.cu

#include <cuda_runtime_api.h>
#include <eddy/backends/cuda/cuda_error.hpp>

#include <source_location>
#include <string>

namespace eddy::inline v0 {

/// Throws `CudaError` unless `code` is success.
inline void cuda_check(cudaError_t code,
                       std::source_location where = std::source_location::current()) {
    if (code == cudaSuccess) return;
    throw CudaError(std::string("CUDA: ") + cudaGetErrorString(code) + " (" +
                    cudaGetErrorName(code) + ", " + where.file_name() + ":" +
                    std::to_string(where.line()) + ")");
}

}  // namespace eddy::inline v0
