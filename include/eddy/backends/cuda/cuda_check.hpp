#pragma once
// CUDA's error codes as exceptions. Needs the CUDA toolkit; <eddy/eddy.hpp> does not include it.

#include <cuda_runtime_api.h>
#include <eddy/core/export.hpp>

#include <source_location>
#include <stdexcept>
#include <string>

namespace eddy::inline v0 {

/// A call of the CUDA runtime failed. The message has CUDA's own words and the place of the call.
struct EDDY_EXPORT CudaError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws `CudaError` unless `code` is success.
inline void cuda_check(cudaError_t code,
                       std::source_location where = std::source_location::current()) {
    if (code == cudaSuccess) return;
    throw CudaError(std::string("CUDA: ") + cudaGetErrorString(code) + " (" +
                    cudaGetErrorName(code) + ", " + where.file_name() + ":" +
                    std::to_string(where.line()) + ")");
}

}  // namespace eddy::inline v0
