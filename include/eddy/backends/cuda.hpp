#pragma once
// A GPU of NVIDIA's: one thread a lane, 32 of which step together. For sources that nvcc compiles, in
// programs that link eddy::cuda; the same calls as everywhere, with Cuda{} after the options.
// Test: tests/device/cuda_calls.cu, tests/device/cuda_oracle.cu

#include <eddy/core/host_device.hpp>

static_assert(eddy::compiled_by_nvcc,
              "eddy::Cuda: this source is not compiled by nvcc; give it the suffix .cu, enable the "
              "language CUDA in CMake, and link eddy::cuda");

#include <eddy/backends/cuda/cuda_check.hpp>
#include <eddy/backends/cuda/runtime.hpp>
#include <eddy/backends/grid/grid_backend.hpp>

namespace eddy::inline v0 {

/// The backend for NVIDIA GPUs: `Cuda{.device = 1, .stream = stream}`. Arrays of the host are
/// copied for each call. Arrays in the memory of the device (`on_device`) are used in place. A call
/// returns when it is done.
using Cuda = GridBackend<detail::CudaRuntime>;
static_assert(Backend<Cuda>);

/// `Cuda` for GPUs whose double precision is slow, such as those for games. In single precision it
/// keeps time as the sum of two floats (48 bits), and its steps use no double precision. In double
/// precision it is `Cuda`.
/// Times and step sizes must be floats in their range. Events and adaptive steps of stochastic
/// equations are refused.
using CudaFloatTime = GridBackend<detail::CudaRuntime, FloatFloat>;
static_assert(Backend<CudaFloatTime>);

/// A (trajectory, component) array in the memory of a device: a pointer from cudaMalloc, and
/// strides in numbers. Without strides, each component is contiguous.
template <class Real>
[[nodiscard]] auto on_device(Real* first, std::ptrdiff_t num_lanes, std::ptrdiff_t num_components,
                             std::ptrdiff_t lane_stride, std::ptrdiff_t component_stride) {
    return ViewIn<Cuda::Memory, Real>{
        {first, num_lanes, num_components, lane_stride, component_stride}};
}
template <class Real>
[[nodiscard]] auto on_device(Real* first, std::ptrdiff_t num_lanes, std::ptrdiff_t num_components) {
    return on_device(first, num_lanes, num_components, 1, num_lanes);
}
/// A view of a thrust::device_vector, or of any other object with data().get().
template <class Vector>
requires requires(Vector& vector) { vector.data().get(); }
[[nodiscard]] auto on_device(Vector& vector, std::ptrdiff_t num_lanes,
                             std::ptrdiff_t num_components) {
    require_argument(static_cast<std::ptrdiff_t>(vector.size()) == num_lanes * num_components,
                     "on_device: {} numbers for {} trajectories of {} components; give {}",
                     vector.size(), num_lanes, num_components, num_lanes * num_components);
    return on_device(vector.data().get(), num_lanes, num_components);
}

}  // namespace eddy::inline v0
