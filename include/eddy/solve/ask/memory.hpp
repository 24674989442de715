#pragma once
// Memory that host text cannot read, as that of a device, and what is asked of arrays that lie there.

#include <concepts>
#include <cstddef>
#include <eddy/core/error.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/ask/validate.hpp>
#include <type_traits>

namespace eddy::inline v0 {

/// A number that is not finite, and where; none where lane is −1.
struct NotFinite {
    std::ptrdiff_t lane = -1, component = -1;
    double value = 0;
};

/// What a backend says of the memory that its kernels read. Functions are called by the thread that
/// called, and are done when they return.
template <class M>
concept DeviceMemory = requires(const M& memory, void* there, const void* from_there, void* here,
                                const void* from_here, std::size_t num_bytes,
                                const EnsembleView<const double>& doubles,
                                const EnsembleView<const float>& floats) {
    { M::name } -> std::convertible_to<const char*>;        // "the memory of the device"
    { memory.allocate(num_bytes) } -> std::same_as<void*>;  // std::bad_alloc where there is none
    memory.release(there);
    memory.copy_in(there, from_here, num_bytes);
    memory.copy_out(here, from_there, num_bytes);
    // Is this an address of it? Asked of each array of the caller's.
    { memory.holds(from_there) } -> std::same_as<bool>;
    // The first in the order of components, then lanes.
    { memory.first_not_finite(doubles) } -> std::same_as<NotFinite>;
    { memory.first_not_finite(floats) } -> std::same_as<NotFinite>;
};

namespace detail {

template <class Memory>
inline constexpr bool is_of_host = std::is_same_v<Memory, HostMemory>;

/// Checks the numbers of an array where it lies.
template <class Memory, class Real>
void require_finite_in([[maybe_unused]] const Memory& memory, const EnsembleView<Real>& array,
                       const char* name, const char* where) {
    if constexpr (is_of_host<Memory>) {
        require_finite(array, name, where);
    } else {
        if (array.num_lanes * array.num_components == 0) return;
        require_argument(memory.holds(array.first),
                         "{}: {} does not lie in {}, as its type says; copy it there", where, name,
                         Memory::name);
        const NotFinite found = memory.first_not_finite(array);
        if (found.lane >= 0)
            throw_not_finite(found.value, found.lane, found.component, name, where);
    }
}

/// One number of an array, wherever it lies.
template <class Memory, class Real>
[[nodiscard]] std::remove_const_t<Real> number_of([[maybe_unused]] const Memory& memory,
                                                  const EnsembleView<Real>& array,
                                                  std::ptrdiff_t lane, std::ptrdiff_t component) {
    if constexpr (is_of_host<Memory>) {
        return array(lane, component);
    } else {
        std::remove_const_t<Real> number;
        memory.copy_out(&number, &array(lane, component), sizeof(number));
        return number;
    }
}

/// A copy in the memory of the host.
template <class Memory, class Real>
[[nodiscard]] EnsembleArray<Real> host_copy([[maybe_unused]] const Memory& memory,
                                            const EnsembleView<const Real>& array) {
    if constexpr (is_of_host<Memory>) {
        return EnsembleArray<Real>(array);
    } else {
        EnsembleArray<Real> copy(array.num_lanes, array.num_components);
        for (std::ptrdiff_t i = 0; i < array.num_components; ++i) {
            Real* const column = copy.data() + i * array.num_lanes;
            if (array.lane_stride == 1 && array.num_lanes > 0)
                memory.copy_out(column, &array(0, i),
                                static_cast<std::size_t>(array.num_lanes) * sizeof(Real));
            for (std::ptrdiff_t lane = 0; array.lane_stride != 1 && lane < array.num_lanes; ++lane)
                column[lane] = number_of(memory, array, lane, i);
        }
        return copy;
    }
}

}  // namespace detail

}  // namespace eddy::inline v0
