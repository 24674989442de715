#pragma once
// Vectors of Thrust as arrays of every call, in place, and the backend that computes where they lie. Which memory that is
// follows Thrust's device system, which a program chooses by THRUST_DEVICE_SYSTEM: that of CUDA is the memory of the device,
// and goes with Cuda{}; those of the host (CPP, OMP, TBB) are the host's. One text serves both.
// For programs that have Thrust: that of the CUDA toolkit, or libthrust-dev without it.
// Test: tests/interop/thrust.cpp, tests/interop/thrust_systems.cpp

#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/iterator_traits.h>
#include <thrust/type_traits/is_contiguous_iterator.h>

#include <concepts>
#include <cstddef>
#include <eddy/backends/cpu.hpp>
#include <eddy/backends/serial.hpp>
#include <eddy/core/error.hpp>
#include <eddy/core/host_device.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <type_traits>
#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_CUDA
#include <eddy/backends/cuda.hpp>
#endif

namespace eddy::inline v0 {

namespace detail {

/// What computes in the memory of a system of Thrust's, which is named by its tag or by a policy. nvcc compiles no packs.
template <class System>
struct MachineOf {
    using Backend = std::conditional_t<compiled_by_nvcc, Serial, Cpu>;
    [[nodiscard]] static Backend backend(const System&) { return {}; }
    template <class Real>
    [[nodiscard]] static EnsembleView<Real> lying_there(const EnsembleView<Real>& view) {
        return view;
    }
};
#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_CUDA
template <class System>
requires std::is_base_of_v<thrust::cuda::execution_policy<System>, System>
struct MachineOf<System> {
    using Backend = Cuda;
    /// In the stream of par.on(stream), or the default one.
    [[nodiscard]] static Backend backend(System system) {
        Cuda cuda;
        cuda.stream = get_stream(system);
        return cuda;
    }
    template <class Real>
    [[nodiscard]] static auto lying_there(const EnsembleView<Real>& view) {
        return ViewIn<Cuda::Memory, Real>{view};
    }
};
#endif

template <class Iterator>
using SystemOf = typename thrust::iterator_system<Iterator>::type;

/// thrust::device_vector, host_vector, universal_vector, and what is like them.
template <class Vector>
concept ThrustVector = requires(Vector& vector) {
    thrust::raw_pointer_cast(vector.data());
    { vector.size() } -> std::convertible_to<std::size_t>;
    typename SystemOf<decltype(vector.begin())>;
};
template <class Policy>
concept ThrustPolicy = std::is_base_of_v<thrust::execution_policy<Policy>, Policy>;

/// So many numbers, of which an array with these strides is made.
template <class System, class Real>
[[nodiscard]] auto view_of_numbers(Real* first, std::ptrdiff_t size, std::ptrdiff_t num_lanes,
                                   std::ptrdiff_t num_components, std::ptrdiff_t lane_stride,
                                   std::ptrdiff_t component_stride) {
    require_argument(
        num_lanes >= 0 && num_components >= 0 && lane_stride >= 0 && component_stride >= 0,
        "view: {} x {} (trajectory, component) with strides of {} and {}; give sizes "
        "and strides of at least 0",
        num_lanes, num_components, lane_stride, component_stride);
    const auto fits = [](std::ptrdiff_t count, std::ptrdiff_t stride, std::ptrdiff_t last) {
        return stride == 0 || count - 1 <= last / stride;
    };
    require_argument(
        num_lanes == 0 || num_components == 0 ||
            (size > 0 && fits(num_lanes, lane_stride, size - 1) &&
             fits(num_components, component_stride, size - 1 - (num_lanes - 1) * lane_stride)),
        "view: {} x {} (trajectory, component) with strides of {} and {} in {} "
        "numbers; give strides that stay among them",
        num_lanes, num_components, lane_stride, component_stride, size);
    return MachineOf<System>::lying_there(
        EnsembleView<Real>{first, num_lanes, num_components, lane_stride, component_stride});
}
template <class Iterator>
[[nodiscard]] auto first_number(Iterator first, Iterator last) {
    static_assert(thrust::is_contiguous_iterator<Iterator>::value,
                  "view: these iterators go over numbers that are made as they are read; copy them "
                  "into a vector");
    return first == last ? nullptr : thrust::raw_pointer_cast(&*first);
}

}  // namespace detail

/// A (trajectory, component) array in a thrust::device_vector, host_vector or universal_vector, without
/// a copy, to be read or written. Strides are those between neighbouring trajectories and neighbouring
/// components, in numbers: `view(vector, lanes, 3, 3, 1)` is row-major. Without them, each component is
/// contiguous over the trajectories, as Eigen's. The vector must outlive the view, and keep its size.
template <detail::ThrustVector Vector>
[[nodiscard]] auto view(Vector& vector, std::ptrdiff_t num_lanes, std::ptrdiff_t num_components,
                        std::ptrdiff_t lane_stride, std::ptrdiff_t component_stride) {
    return detail::view_of_numbers<detail::SystemOf<decltype(vector.begin())>>(
        thrust::raw_pointer_cast(vector.data()), static_cast<std::ptrdiff_t>(vector.size()),
        num_lanes, num_components, lane_stride, component_stride);
}
template <detail::ThrustVector Vector>
[[nodiscard]] auto view(Vector& vector, std::ptrdiff_t num_lanes, std::ptrdiff_t num_components) {
    detail::require_size(vector.size(), num_lanes, num_components, "view");
    return eddy::view(vector, num_lanes, num_components, 1, num_lanes);
}
/// The same of the numbers from `first` to `last`: two `device_ptr`, or iterators of a vector.
template <class Iterator>
[[nodiscard]] auto view(Iterator first, Iterator last, std::ptrdiff_t num_lanes,
                        std::ptrdiff_t num_components, std::ptrdiff_t lane_stride,
                        std::ptrdiff_t component_stride) {
    return detail::view_of_numbers<detail::SystemOf<Iterator>>(
        detail::first_number(first, last), last - first, num_lanes, num_components, lane_stride,
        component_stride);
}
template <class Iterator>
[[nodiscard]] auto view(Iterator first, Iterator last, std::ptrdiff_t num_lanes,
                        std::ptrdiff_t num_components) {
    detail::require_size(static_cast<std::size_t>(last - first), num_lanes, num_components, "view");
    return eddy::view(first, last, num_lanes, num_components, 1, num_lanes);
}

/// The backend that computes where a vector of Thrust lies, or where and in which stream a policy of
/// Thrust's works: `backend_of(thrust::device)`, `backend_of(thrust::cuda::par.on(stream))`. It is Cuda for
/// CUDA's system, and Cpu for those of the host (Serial in a source that nvcc compiles).
template <class There>
[[nodiscard]] auto backend_of(const There& there) {
    constexpr bool is_policy = detail::ThrustPolicy<There>;
    static_assert(is_policy || detail::ThrustVector<const There>,
                  "backend_of: give a vector of Thrust, or an execution policy such as "
                  "thrust::device");
    if constexpr (is_policy)
        return detail::MachineOf<There>::backend(there);
    else if constexpr (detail::ThrustVector<const There>)
        return typename detail::MachineOf<detail::SystemOf<decltype(there.begin())>>::Backend{};
}

}  // namespace eddy::inline v0
