#include <eddy/backends/cuda.hpp>

#include "machine_calls.hpp"

namespace lynx_hare {

std::optional<Machine> gpu() {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return std::nullopt;
    if (cudaFree(nullptr) != cudaSuccess) return std::nullopt;  // wakes it, before anybody measures
    return machine_of(properties.name, eddy::Cuda{});
}

}  // namespace lynx_hare
