#pragma once
// The memory of a device, as the call layer sees it (solve/ask/memory.hpp), over the thin functions of
// a runtime.
// Test: tests/solve/device_outputs.cpp, tests/solve/emulated_device.cpp

#include <cstddef>
#include <eddy/backends/grid/grid_pool.hpp>
#include <eddy/core/host_device.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/solve/ask/memory.hpp>
#include <span>
#include <variant>

namespace eddy::inline v0 {

namespace detail {

/// Is a number of an array, in the order of components, then lanes, not finite?
template <class Real>
struct IsNotFinite {
    EnsembleView<Real> array;

    [[nodiscard]] EDDY_HD bool operator()(std::ptrdiff_t i) const {
        return !is_number(array(i % array.num_lanes, i / array.num_lanes));
    }
};

/// Puts a number of some rows into an array, which are dense on the other side, component after component.
template <class Real>
struct PutRow {
    EnsembleView<Real> array;
    const std::ptrdiff_t* rows;
    std::ptrdiff_t num_rows;
    const Real* numbers;

    EDDY_HD void operator()(std::ptrdiff_t i) const {
        array(rows[i % num_rows], i / num_rows) = numbers[i];
    }
};

}  // namespace detail

/// Made by a backend; `pool` is what its solver object keeps. `is_alone`: the call computes on no
/// other device. An asynchronous one belongs to calls that return before their work is done.
template <class Runtime>
class GridMemory {
    using Stream = typename Runtime::Stream;
    using DeviceInUse = detail::DeviceInUse<Runtime>;

  public:
    static constexpr const char* name = Runtime::memory_name;
    /// Arrays of the host are copied for each call.
    static constexpr bool takes_arrays_of_host = true;
    static constexpr bool leaves_out_lanes = false;

    GridMemory() = default;
    GridMemory(int device, Stream stream, detail::GridPool<Runtime>* pool, bool is_alone = true,
               bool is_asynchronous = false)
        : device_(device),
          stream_(stream),
          pool_(pool),
          is_alone_(is_alone),
          is_asynchronous_(is_asynchronous) {}

    [[nodiscard]] bool is_asynchronous() const { return is_asynchronous_; }
    [[nodiscard]] bool is_alone() const { return is_alone_; }

    void copy_in(void* there, const void* here, std::size_t num_bytes) const {
        const DeviceInUse in_use(device_);
        detail::require_done<Runtime>(Runtime::copy(there, here, num_bytes, stream_),
                                      "copying to the device");
    }
    void copy_out(void* here, const void* there, std::size_t num_bytes) const {
        const DeviceInUse in_use(device_);
        detail::require_done<Runtime>(Runtime::copy(here, there, num_bytes, stream_),
                                      "copying from the device");
        detail::require_done<Runtime>(Runtime::synchronize(stream_), "waiting for the device");
    }
    void wait() const {
        const DeviceInUse in_use(device_);
        detail::require_done<Runtime>(Runtime::synchronize(stream_), "waiting for the device");
    }
    /// What a solver object has asked once it knows: an address of a device stays one.
    [[nodiscard]] bool holds(const void* address) const {
        if (pool_ == nullptr) return is_there(address);
        pool_->use(device_);
        if (pool_->knows(address)) return true;
        const bool found = is_there(address);
        if (found) pool_->learn(address);
        return found;
    }
    /// The kernels of the call check whether these numbers are finite (RowTask). Only if they find one that
    /// is not, somebody asks which: throw_if_not_finite().
    template <class Real>
    void check_later(const EnsembleView<Real>& array, const detail::ArrayName& array_name,
                     const char* where) const {
        pool_->use(device_);
        const EnsembleView<const std::remove_const_t<Real>> numbers{
            array.first, array.num_lanes, array.num_components, array.lane_stride,
            array.component_stride};
        pool_->checks().push_back({numbers, array_name, where});
    }
    void forget_checks() const {
        if (pool_) pool_->checks().clear();
    }
    void throw_if_not_finite() const {
        for (const detail::GridCheck& check : pool_->checks()) {
            const NotFinite found = std::visit(
                [&](const auto& numbers) { return first_not_finite(numbers); }, check.numbers);
            if (found.lane >= 0)
                detail::throw_not_finite(found.value, found.lane, found.component, check.name,
                                         check.where);
        }
    }
    template <class Real>
    [[nodiscard]] NotFinite first_not_finite(const EnsembleView<Real>& array) const {
        const DeviceInUse in_use(device_);
        const std::ptrdiff_t count = array.num_lanes * array.num_components;
        std::ptrdiff_t first = count;
        detail::require_done<Runtime>(
            Runtime::first_of(count, detail::IsNotFinite<Real>{array}, stream_, first),
            "searching an array");
        if (first == count) return {};
        NotFinite where{first % array.num_lanes, first / array.num_lanes, 0};
        std::remove_const_t<Real> value;
        copy_out(&value, &array(where.lane, where.component), sizeof(value));
        where.value = static_cast<double>(value);
        return where;
    }

    /// Some rows, which are dense on the host.
    template <class Real>
    void put_rows(const EnsembleView<Real>& array, std::span<const std::ptrdiff_t> rows,
                  const Real* numbers) const {
        const DeviceInUse in_use(device_);
        pool_->use(device_);
        const auto num_rows = static_cast<std::ptrdiff_t>(rows.size());
        const auto num_bytes =
            static_cast<std::size_t>(num_rows * array.num_components) * sizeof(Real);
        void* const list = pool_->reserve(detail::GridPiece::rows, rows.size_bytes() + num_bytes);
        auto* const list_there = static_cast<std::ptrdiff_t*>(list);
        auto* const numbers_there = reinterpret_cast<Real*>(list_there + num_rows);
        copy_in(list_there, rows.data(), rows.size_bytes());
        copy_in(numbers_there, numbers, num_bytes);
        detail::require_done<Runtime>(
            Runtime::for_each(num_rows * array.num_components,
                              detail::PutRow<Real>{array, list_there, num_rows, numbers_there},
                              stream_),
            "putting rows into an array");
        wait();
    }

  private:
    [[nodiscard]] bool is_there(const void* address) const {
        int place = detail::on_the_host;
        detail::require_done<Runtime>(Runtime::place_of(address, place),
                                      "asking where an array lies");
        require_argument(place == detail::on_the_host || place == device_,
                         "Cuda: an array lies on device {}, but the call computes on device {}; "
                         "copy it, or give Cuda{{.device = {}}}",
                         place, device_, place);
        require_argument(place == detail::on_the_host || is_alone_,
                         "Cuda: an array lies on device {}, but the call computes on several "
                         "devices; give arrays of the host, or Cuda{{.device = {}}}",
                         place, place);
        return place == device_;
    }
    int device_ = 0;
    Stream stream_{};
    detail::GridPool<Runtime>* pool_ = nullptr;
    bool is_alone_ = true, is_asynchronous_ = false;
};

}  // namespace eddy::inline v0
