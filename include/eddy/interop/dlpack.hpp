#pragma once
// Arrays of PyTorch, JAX, NumPy and others by DLPack, in and out, without a copy. The structs are those of
// DLPack's ABI (version 1, https://dmlc.github.io/dlpack/latest/c_api.html); the functions below take
// those of its own header as well, for they ask for members alone.
// Test: tests/interop/dlpack.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/core/error.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <memory>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

namespace dlpack {

inline constexpr std::int32_t cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13;
inline constexpr std::uint8_t floating_point = 2;
inline constexpr std::uint64_t read_only = 1;  // of `flags`

struct Device {
    std::int32_t device_type = cpu, device_id = 0;
};
struct DataType {
    std::uint8_t code = floating_point, bits = 0;
    std::uint16_t lanes = 1;
};
struct Tensor {
    void* data = nullptr;
    Device device;
    std::int32_t ndim = 0;
    DataType dtype;
    std::int64_t* shape = nullptr;
    std::int64_t* strides = nullptr;  // in elements; null: row-major, without gaps
    std::uint64_t byte_offset = 0;
};
/// DLPack's managed tensor, the content of a capsule "dltensor".
struct ManagedTensor {
    Tensor dl_tensor;
    void* manager_ctx = nullptr;
    void (*deleter)(ManagedTensor* self) = nullptr;
};
struct Version {
    std::uint32_t major = 1, minor = 0;
};
/// What a capsule "dltensor_versioned" holds.
struct ManagedTensorVersioned {
    Version version;
    void* manager_ctx = nullptr;
    void (*deleter)(ManagedTensorVersioned* self) = nullptr;
    std::uint64_t flags = 0;
    Tensor dl_tensor;
};
static_assert(sizeof(void*) != 8 || (sizeof(Tensor) == 48 && sizeof(ManagedTensor) == 64 &&
                                     sizeof(ManagedTensorVersioned) == 80));

}  // namespace dlpack

namespace detail {

/// A tensor within a managed one, which may say that it is not to be written.
template <class Real, class Tensor>
[[nodiscard]] const auto& plain_tensor(const Tensor& tensor) {
    if constexpr (requires { tensor.version; }) {
        require_argument(tensor.version.major <= 1,
                         "from_dlpack: a tensor of DLPack {}.{}, whose structs are not known here; "
                         "ask for version 1",
                         tensor.version.major, tensor.version.minor);
        require_argument(std::is_const_v<Real> || (tensor.flags & dlpack::read_only) == 0,
                         "from_dlpack: the tensor is read-only, but a view to be written was asked "
                         "for; ask for numbers that are const");
    }
    if constexpr (requires { tensor.dl_tensor; })
        return tensor.dl_tensor;
    else
        return tensor;
}

template <class Real, class Tensor>
[[nodiscard]] EnsembleView<Real> view_of_tensor(const Tensor& tensor) {
    constexpr int bits = 8 * static_cast<int>(sizeof(Real));
    require_argument(tensor.dtype.code == dlpack::floating_point && tensor.dtype.lanes == 1 &&
                         tensor.dtype.bits == bits,
                     "from_dlpack: numbers of type code {} with {} bits in vectors of {}; give "
                     "floating point of {} bits, each by itself",
                     int{tensor.dtype.code}, int{tensor.dtype.bits}, int{tensor.dtype.lanes}, bits);
    require_argument(
        tensor.ndim == 1 || tensor.ndim == 2,
        "from_dlpack: a tensor of {} dimensions; give (trajectory, component), or one row",
        tensor.ndim);
    require_argument(tensor.shape != nullptr,
                     "from_dlpack: a tensor without a shape; give one whose sizes are there");
    const auto size = [&](int i) { return static_cast<std::ptrdiff_t>(tensor.shape[i]); };
    bool is_empty = false;
    for (int i = 0; i < tensor.ndim; ++i) {
        require_argument(size(i) >= 0, "from_dlpack: shape[{}] = {}; give sizes of at least 0", i,
                         size(i));
        is_empty = is_empty || size(i) == 0;
    }
    require_argument(is_empty || tensor.data != nullptr,
                     "from_dlpack: a tensor without data; give one whose numbers are there");
    const auto address = reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset;
    require_argument(address % alignof(Real) == 0,
                     "from_dlpack: numbers at an address that is no multiple of {} bytes; copy the "
                     "array first",
                     alignof(Real));
    auto* const first = reinterpret_cast<Real*>(address);
    const auto stride = [&](int i) { return static_cast<std::ptrdiff_t>(tensor.strides[i]); };
    if (tensor.ndim == 1) return {first, 1, size(0), 0, tensor.strides ? stride(0) : 1};
    if (tensor.strides == nullptr) return {first, size(0), size(1), size(1), 1};
    return {first, size(0), size(1), stride(0), stride(1)};
}

/// A managed tensor, and what it needs while it lives.
template <class Managed, class Owner>
struct HeldTensor {
    Managed managed{};
    std::int64_t shape[2], strides[2];
    Owner owner;
};

}  // namespace detail

/// A host tensor as a (trajectory, component) array without a copy: `from_dlpack<const
/// double>(managed->dl_tensor)`, or the managed tensor itself. A tensor of one dimension is one
/// row.
/// The tensor must outlive the view, and you must call its `deleter`. Throws InvalidArgument if it
/// has another number type or other dimensions, or lies on a device.
template <class Real, class Tensor>
[[nodiscard]] EnsembleView<Real> from_dlpack(const Tensor& tensor) {
    const auto& plain = detail::plain_tensor<Real>(tensor);
    const int device = static_cast<int>(plain.device.device_type);
    require_argument(
        device == dlpack::cpu || device == dlpack::cuda_host,
        "from_dlpack: the tensor lies on a device of type {}, not on the host; name the "
        "backend that computes there, from_dlpack<double, Cuda>(tensor)",
        device);
    return detail::view_of_tensor<Real>(plain);
}

/// The same for a tensor in the memory of a backend: `from_dlpack<double, Cuda>(tensor)`. The work
/// that fills it must be done, or be on the same stream, as by `__dlpack__(stream=…)`.
template <class Real, class Backend, class Tensor>
requires requires { typename Backend::Memory; }
[[nodiscard]] auto from_dlpack(const Tensor& tensor) {
    static_assert(!std::is_same_v<typename Backend::Memory, HostMemory>,
                  "from_dlpack: this backend computes on the host; leave it out");
    const auto& plain = detail::plain_tensor<Real>(tensor);
    const int device = static_cast<int>(plain.device.device_type);
    require_argument(
        device == dlpack::cuda || device == dlpack::cuda_managed,
        "from_dlpack: the tensor lies on a device of type {}, but the call computes on "
        "one of CUDA's; leave out the backend, or move the tensor",
        device);
    return ViewIn<typename Backend::Memory, Real>{detail::view_of_tensor<Real>(plain)};
}

/// A tensor of two dimensions, (trajectory, component), for other libraries, without a copy.
/// `owner` must keep the numbers alive; the deleter destroys it.
/// `Managed` is the struct with or without a version, or one of DLPack's own header. A struct
/// without a version cannot mark numbers as read-only, so it takes no const view.
template <class Managed = dlpack::ManagedTensor, class Real, class Owner>
[[nodiscard]] Managed* to_dlpack(const EnsembleView<Real>& view, const dlpack::Device& device,
                                 Owner owner) {
    constexpr bool has_version = requires(Managed managed) { managed.version; };
    static_assert(
        !std::is_const_v<Real> || has_version,
        "to_dlpack: these numbers are const, which a tensor without a version cannot say; "
        "make a ManagedTensorVersioned");
    using Held = detail::HeldTensor<Managed, Owner>;
    auto held = std::unique_ptr<Held>(new Held{Managed{},
                                               {view.num_lanes, view.num_components},
                                               {view.lane_stride, view.component_stride},
                                               std::move(owner)});
    Managed& managed = held->managed;
    auto& tensor = managed.dl_tensor;
    using Type = std::remove_cvref_t<decltype(tensor.device.device_type)>;
    tensor.data = const_cast<std::remove_const_t<Real>*>(view.first);
    tensor.device.device_type = static_cast<Type>(device.device_type);
    tensor.device.device_id = device.device_id;
    tensor.ndim = 2;
    tensor.dtype.code = dlpack::floating_point;
    tensor.dtype.bits = static_cast<std::uint8_t>(8 * sizeof(Real));
    tensor.dtype.lanes = 1;
    tensor.shape = held->shape;
    tensor.strides = held->strides;
    if constexpr (has_version) {
        managed.version.major = 1;
        managed.version.minor = 0;
        managed.flags = std::is_const_v<Real> ? dlpack::read_only : 0;
    }
    managed.manager_ctx = held.get();
    managed.deleter = [](Managed* self) { delete static_cast<Held*>(self->manager_ctx); };
    return &held.release()->managed;
}

/// The same for an array that you move in, such as a result moved out of a solution or gradient.
template <class Managed = dlpack::ManagedTensor, class Real>
[[nodiscard]] Managed* to_dlpack(EnsembleArray<Real>&& array) {
    const EnsembleView<Real> view = array.view();  // a moved array keeps its numbers where they are
    return to_dlpack<Managed>(view, dlpack::Device{}, std::move(array));
}

}  // namespace eddy::inline v0
