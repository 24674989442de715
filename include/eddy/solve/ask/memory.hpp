#pragma once
// Memory that host text cannot read, as that of a device, and what is asked of arrays that lie there.
// Test: tests/compile_fail/solve_array_elsewhere.cpp, tests/solve/contracts.cpp

#include <concepts>
#include <cstddef>
#include <eddy/core/error.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/ask/validate.hpp>
#include <span>
#include <type_traits>
#include <vector>

namespace eddy::inline v0 {

/// A number that is not finite, and where; none where lane is −1.
struct NotFinite {
    std::ptrdiff_t lane = -1, component = -1;
    double value = 0;
};

/// What a backend says of the memory that its kernels read. Functions are called by the thread that
/// called, and are done when they return; but `copy_in` when `wait` has, and before what follows it there.
template <class M>
concept DeviceMemory = requires(const M& memory, void* there, const void* from_there, void* here,
                                const void* from_here, std::size_t num_bytes,
                                const EnsembleView<const double>& doubles,
                                const EnsembleView<const float>& floats,
                                const EnsembleView<double>& to_doubles,
                                const EnsembleView<float>& to_floats, const double* double_rows,
                                const float* float_rows, std::span<const std::ptrdiff_t> rows,
                                const detail::ArrayName& name, const char* where) {
    { M::name } -> std::convertible_to<const char*>;  // "the memory of the device"
    memory.copy_in(there, from_here, num_bytes);
    memory.copy_out(here, from_there, num_bytes);
    memory.wait();
    // Is this an address of it? Asked of each array of the caller's.
    { memory.holds(from_there) } -> std::same_as<bool>;
    // The first in the order of components, then lanes.
    { memory.first_not_finite(doubles) } -> std::same_as<NotFinite>;
    { memory.first_not_finite(floats) } -> std::same_as<NotFinite>;
    // Some rows of an array there: dense here, component after component.
    memory.put_rows(to_doubles, rows, double_rows);
    memory.put_rows(to_floats, rows, float_rows);
    // Do backends of it take arrays of the host as well? Those are copied for each call.
    { M::takes_arrays_of_host } -> std::convertible_to<bool>;
    // Are lanes that begin with numbers which are not finite left out, rather than refused?
    { memory.leaves_out_lanes } -> std::convertible_to<bool>;
    { memory.is_alone() } -> std::same_as<bool>;  // no other device has a part in the call
    {
        memory.is_asynchronous()
        } -> std::same_as<bool>;  // calls return early: nothing in them waits
    // The kernels of the call check whether these numbers are finite; the first of a call that says so forgets others.
    memory.check_later(doubles, name, where);
    memory.check_later(floats, name, where);
    memory.forget_checks();
};

namespace detail {

template <class Memory>
inline constexpr bool is_of_host = std::is_same_v<Memory, HostMemory>;
/// Does a backend compute in a memory of its own? Then it is a DeviceBackend (call/backend.hpp).
template <class Backend>
inline constexpr bool is_of_device = !is_of_host<typename Backend::Memory>;

/// Does a backend of this memory take arrays of the host as well? Those are copied for each call.
template <class Memory>
inline constexpr bool takes_arrays_of_host = Memory::takes_arrays_of_host;

/// The memory that a backend computes in, with what a solver object keeps of it.
template <class Backend>
[[nodiscard]] auto memory_for(const Backend& backend,
                              [[maybe_unused]] typename Backend::Kept& kept) {
    if constexpr (is_of_device<Backend>)
        return backend.memory(kept);
    else
        return backend.memory();
}

/// Must the numbers be read by way of the memory?
template <class Memory>
[[nodiscard]] bool lies_in(const Memory& memory, const void* first) {
    return !takes_arrays_of_host<Memory> || memory.holds(first);
}

/// May a call return before its work there is done? Then nothing in it waits.
template <class Memory>
[[nodiscard]] bool returns_early(const Memory& memory) {
    return memory.is_asynchronous();
}

/// The name of a memory, for messages.
template <class Memory>
inline constexpr const char* memory_name = Memory::name;

/// Checks the numbers of an array where it lies, or leaves that to the launch of the call, which sees them
/// anyway: but for those of a call that returns early, where a lane that begins with others is `non_finite`. `Array` is its type, which says where that is.
template <class Array, class Memory, class Real>
void require_finite_in([[maybe_unused]] const Memory& memory, const EnsembleView<Real>& array,
                       const ArrayName& name, const char* where) {
    if constexpr (is_of_host<Memory>) {
        require_finite(array, name, where);
    } else {
        if (array.num_lanes * array.num_components == 0) return;
        const bool is_there = memory.holds(array.first);
        if constexpr (is_of_host<MemoryOf<Array>>) {
            require_argument(is_there || !returns_early(memory),
                             "{}: {} lies on the host, but the call is asynchronous; copy it to {}",
                             where, name.text, Memory::name);
            if (!is_there) return require_finite(array, name, where);
        }
        require_argument(is_there, "{}: {} does not lie in {}, as its type says; copy it there",
                         where, name.text, Memory::name);
        if (returns_early(memory)) return;
        memory.check_later(array, name, where);
    }
}

/// One number of an array, wherever it lies.
template <class Memory, class Real>
[[nodiscard]] std::remove_const_t<Real> number_of(const Memory& memory,
                                                  const EnsembleView<Real>& array,
                                                  std::ptrdiff_t lane, std::ptrdiff_t component) {
    if (!lies_in(memory, array.first)) return array(lane, component);
    std::remove_const_t<Real> number{};
    memory.copy_out(&number, &array(lane, component), sizeof(number));
    return number;
}

/// Writes the only row of an array, wherever it lies: value(i) for component i.
template <class Memory, class Real, class Value>
void put_row(const Memory& memory, const EnsembleView<Real>& array, const Value& value) {
    if (lies_in(memory, array.first)) {
        std::vector<Real> row;
        for (int i = 0; i < array.num_components; ++i) row.push_back(value(i));
        if (array.component_stride == 1)
            memory.copy_in(array.first, row.data(), row.size() * sizeof(Real));
        for (int i = 0; array.component_stride != 1 && i < array.num_components; ++i)
            memory.copy_in(&array(0, i), &row[static_cast<std::size_t>(i)], sizeof(Real));
        return memory.wait();
    }
    for (int i = 0; i < array.num_components; ++i) array(0, i) = value(i);
}

/// A copy in the memory of the host.
template <class Memory, class Real>
[[nodiscard]] EnsembleArray<Real> host_copy(const Memory& memory,
                                            const EnsembleView<const Real>& array) {
    if (!lies_in(memory, array.first)) return EnsembleArray<Real>(array);
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

}  // namespace detail

}  // namespace eddy::inline v0
