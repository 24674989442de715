#pragma once
// The memory of a device, as the call layer sees it (solve/ask/memory.hpp), over the thin functions of
// a runtime.

#include <cstddef>
#include <eddy/backends/grid/grid_pool.hpp>
#include <eddy/backends/grid/grid_work.hpp>
#include <eddy/solve/ask/memory.hpp>

namespace eddy::inline v0 {

/// Made by a backend; `pool` is what its solver object keeps.
template <class Runtime>
class GridMemory {
    using Stream = typename Runtime::Stream;
    using Warp = typename Runtime::Warp;
    using DeviceInUse = detail::DeviceInUse<Runtime>;

  public:
    static constexpr const char* name = Runtime::memory_name;
    /// They are copied for each call.
    static constexpr bool takes_arrays_of_host = true;

    GridMemory() = default;
    GridMemory(int device, Stream stream, detail::GridPool<Runtime>* pool)
        : device_(device), stream_(stream), pool_(pool) {}

    void begin_call() const { pool_->begin_call(); }
    [[nodiscard]] void* allocate(std::size_t num_bytes) const {
        const DeviceInUse in_use(device_);
        pool_->use(device_);
        return pool_->take(num_bytes);
    }
    /// The pool keeps it.
    static void release(void*) {}
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
    [[nodiscard]] bool holds(const void* address) const {
        int place = detail::on_the_host;
        detail::require_done<Runtime>(Runtime::place_of(address, place),
                                      "asking where an array lies");
        require_argument(place == detail::on_the_host || place == device_,
                         "Cuda: an array lies on device {}, but the call computes on device {}; "
                         "copy it, or give Cuda{{.device = {}}}",
                         place, device_, place);
        return place == device_;
    }
    template <class Real>
    [[nodiscard]] NotFinite first_not_finite(const EnsembleView<Real>& array) const {
        using Number = std::remove_const_t<Real>;
        const DeviceInUse in_use(device_);
        pool_->use(device_);
        auto* const found_there = pool_->template zeros<std::int64_t>(1, stream_);
        const EnsembleView<const Number> numbers{array.first, array.num_lanes, array.num_components,
                                                 array.lane_stride, array.component_stride};
        run(detail::SearchWork<Number, Warp>{numbers, found_there}, array);
        std::int64_t found = 0;
        copy_out(&found, found_there, sizeof(found));
        if (found == 0) return {};
        constexpr std::int64_t nothing = 0;
        copy_in(found_there, &nothing, sizeof(nothing));
        const std::ptrdiff_t index = array.num_lanes * array.num_components + found;
        NotFinite where{index % array.num_lanes, index / array.num_lanes, 0};
        Number value;
        copy_out(&value, &array(where.lane, where.component), sizeof(value));
        where.value = static_cast<double>(value);
        return where;
    }
    /// Writes the same number everywhere.
    template <class Real>
    void fill(const EnsembleView<Real>& array, Real value) const {
        const DeviceInUse in_use(device_);
        run(detail::FillWork<Real, Warp>{array, value}, array);
    }

  private:
    /// A thread for each number, as long as there are enough.
    template <class Work, class Real>
    void run(const Work& work, const EnsembleView<Real>& array) const {
        constexpr std::ptrdiff_t most_warps = 4096;
        const std::ptrdiff_t warps = (array.num_lanes * array.num_components + 31) / 32;
        if (warps == 0) return;
        detail::require_done<Runtime>(
            Runtime::launch(work, warps < most_warps ? warps : most_warps, stream_),
            "launching a kernel");
    }

    int device_ = 0;
    Stream stream_{};
    detail::GridPool<Runtime>* pool_ = nullptr;
};

}  // namespace eddy::inline v0
