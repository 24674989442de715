#pragma once
// A backend for a machine with kernels: one thread a lane, a warp a team for each group of lanes, and
// memory for as many as the machine holds at once. All of it but the thin functions of the
// runtime (runtime.hpp) is text of the host, or of both.
// Test: tests/solve/grid_backend.cpp

#include <algorithm>
#include <cstddef>
#include <eddy/backends/grid/device_rows.hpp>
#include <eddy/backends/grid/grid_call.hpp>
#include <eddy/backends/grid/grid_memory.hpp>
#include <eddy/backends/grid/grid_path_call.hpp>
#include <eddy/core/error.hpp>
#include <eddy/solve/ask/combinations.hpp>
#include <eddy/solve/call/backend.hpp>
#include <eddy/solve/call/gradient_plan.hpp>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace eddy::inline v0 {

namespace detail {

/// What a solver object keeps, (device). A copy begins empty.
template <class Runtime>
struct GridKept {
    std::vector<GridPool<Runtime>> pools;

    [[nodiscard]] GridPool<Runtime>& pool(std::size_t k, std::size_t count) {
        if (pools.size() < count) pools.resize(count);
        return pools[k];
    }
};

}  // namespace detail

/// `ClockNumber` is what lanes of single precision keep time in; those of double precision keep it in double.
template <class Runtime, class ClockNumber = double>
struct GridBackend {
    struct backend_tag {};

    int device = 0;
    /// The stream in which all work is put, in order.
    typename Runtime::Stream stream{};
    /// Devices that share the lanes, in the place of `device`, each in its default stream.
    std::vector<int> devices{};
    /// Calls put their work into the stream and return; arrays, of results too, lie on the device then.
    /// Whoever asks for the outcome of a lane waits, or solution.wait().
    bool asynchronous = false;
    /// Lanes are solved in the order of what they cost in the last call of the solver object, all of them and not only
    /// those of a warp: for costs that differ by much. Results stay where they are, with the same bits.
    bool sorted = false;

    template <class Real>
    using Lanes = Real;
    template <class Real>
    using Time = std::conditional_t<std::is_same_v<Real, float>, ClockNumber, double>;
    template <class Spec>
    using Team = detail::GridTeam<typename Runtime::Warp>;
    using Memory = GridMemory<Runtime>;
    using Kept = detail::GridKept<Runtime>;

    [[nodiscard]] Memory memory() const {
        return {number(0), stream, nullptr, count() == 1, asynchronous};
    }
    [[nodiscard]] Memory memory(Kept& kept) const {
        return {number(0), stream, &kept.pool(0, count()), count() == 1, asynchronous};
    }

    void require_valid(const char* where) const {
        int there = 0;
        detail::require_done<Runtime>(Runtime::num_devices(there), "counting devices");
        require_argument(devices.empty() || (device == 0 && stream == typename Runtime::Stream{}),
                         "{}: Cuda with devices, and a device or a stream besides; give one or the "
                         "other",
                         where);
        if (asynchronous)
            detail::require_asynchronous(
                detail::Features().with(detail::Feature::devices, !devices.empty()), where);
        for (std::size_t k = 0; k < count(); ++k) {
            require_argument(
                number(k) >= 0 && number(k) < there,
                "{}: Cuda with device = {}, but this machine has {}; they count from 0", where,
                number(k), there);
            require_argument(std::count(devices.begin(), devices.end(), number(k)) <= 1,
                             "{}: Cuda with device {} twice; give each once", where, number(k));
        }
    }

    /// Warps that the devices hold at once, if each of their threads has a lane of the equation.
    template <class Spec, bool goes_back>
    [[nodiscard]] std::ptrdiff_t num_workers_for(std::ptrdiff_t num_groups) const {
        return workers(num_groups, detail::warps_for<Spec, goes_back>());
    }
    [[nodiscard]] std::ptrdiff_t num_workers(std::ptrdiff_t num_groups) const {
        return workers(num_groups, 1);
    }

    /// A budget that nobody has set is a quarter of the free memory, 4 GiB of each device at most.
    [[nodiscard]] detail::MemoryLimits memory_limits(const MemoryBudget& budget, Kept& kept) const {
        constexpr std::size_t most = std::size_t{4} << 30;
        std::size_t num_free = std::numeric_limits<std::size_t>::max();
        for (std::size_t k = 0; k < count(); ++k) {
            const detail::DeviceInUse<Runtime> in_use(number(k));
            detail::GridPool<Runtime>& pool = kept.pool(k, count());
            pool.use(number(k));
            num_free = std::min(num_free, pool.bytes_free_at_first());
        }
        return {budget.is_set ? budget.bytes : count() * std::min(most, num_free / 4),
                static_cast<std::int64_t>(count() * (num_free / 8 * 7))};
    }

    [[nodiscard]] detail::GridStores stores(const detail::GradientPlan& plan, std::ptrdiff_t,
                                            Kept& kept) const {
        for (std::size_t k = 0; k < count(); ++k) {
            const detail::DeviceInUse<Runtime> in_use(number(k));
            detail::GridPool<Runtime>& pool = kept.pool(k, count());
            pool.use(number(k));
            renew(pool.stores(), plan, pool, stream, Memory(number(k), stream, &pool));
        }
        return kept.pool(0, count()).stores();
    }

    template <class Kernel>
    void launch(const LaunchPlan& plan, const Kernel& kernel, detail::CallLink& call,
                Kept& kept) const {
        require_unwatched(call);
        std::vector<detail::GridPlace<Runtime>> places;
        for (std::size_t k = 0; k < count(); ++k)
            places.push_back({number(k), stream, &kept.pool(k, count())});
        detail::GridCall<Runtime, Kernel>(plan, kernel, std::move(places), call, asynchronous,
                                          sorted)
            .run();
    }
    /// What a part of a call should take at most, that another part may follow.
    [[nodiscard]] static std::size_t bytes_of_chunk() { return Runtime::bytes_of_chunk(); }
    /// Many paths to a lane, whose arrays lie on one device, or are brought there.
    template <class Job>
    void launch_paths(const Job& job, detail::CallLink& call, Kept& kept) const {
        require_unwatched(call);
        detail::GridPathCall<Runtime, Job>(job, {number(0), stream, &kept.pool(0, count())}, call,
                                           asynchronous)
            .run();
    }
    /// Has the last gradient added up what may be added over its lanes, so that nobody else needs to?
    [[nodiscard]] static bool has_added_up(const Kept& kept) {
        return kept.pools.front().adds_up();
    }
    /// Has the last gradient marked lanes that may be solved once more?
    [[nodiscard]] static bool has_marked(const Kept& kept) {
        return std::any_of(kept.pools.begin(), kept.pools.end(),
                           [](const auto& pool) { return pool.has_marked(); });
    }
    /// Brings the addends of the shared parameters to the host that the last gradient has added up.
    void bring_addends(Kept& kept) const { kept.pools.front().bring_addends(stream); }
    /// Waits for what a call that returned early has left at work, and brings its results: of(pool). One that
    /// has waited may leave there what became of its lanes, until somebody asks.
    [[nodiscard]] static detail::Unfinished unfinished(Kept& kept) {
        detail::GridPool<Runtime>& first = kept.pools.front();
        if (!first.has_left_something()) return {};
        return {[](void* pool) { static_cast<detail::GridPool<Runtime>*>(pool)->land(); }, &first,
                first.all_succeeded()};
    }
    /// Sums over lanes of ranks, added on its device: a link brings them to other devices.
    template <class Link>
    [[nodiscard]] std::shared_ptr<detail::RowCarrier> rows_by(Link link) const {
        return std::make_shared<detail::DeviceRows<Runtime, Link>>(
            number(0), typename Runtime::Stream{}, std::move(link));
    }
    /// Is the device emulated, whose memory any message may come from?
    static constexpr bool is_on_the_host = requires { requires Runtime::is_on_the_host; };

  private:
    void require_unwatched(const detail::CallLink& call) const {
        if (asynchronous)
            detail::require_asynchronous(
                detail::Features().with(detail::Feature::watching, call.may_be_stopped()), "Cuda");
    }
    [[nodiscard]] std::size_t count() const { return devices.empty() ? 1 : devices.size(); }
    [[nodiscard]] int number(std::size_t k) const { return devices.empty() ? device : devices[k]; }

    /// The workers of a call: as many on each device as that with the fewest processors has.
    [[nodiscard]] std::ptrdiff_t workers(std::ptrdiff_t num_groups, int per_processor) const {
        int fewest = std::numeric_limits<int>::max();
        for (std::size_t k = 0; k < count(); ++k) {
            int processors = 1;
            detail::require_done<Runtime>(Runtime::num_processors(number(k), processors),
                                          "asking for the size of the device");
            fewest = std::min(fewest, processors);
        }
        const std::ptrdiff_t resident =
            std::ptrdiff_t{fewest} * per_processor * static_cast<std::ptrdiff_t>(count());
        return std::clamp<std::ptrdiff_t>(num_groups, 1, std::max<std::ptrdiff_t>(1, resident));
    }
    static void renew(detail::GridStores& stores, const detail::GradientPlan& plan,
                      detail::GridPool<Runtime>& pool, typename Runtime::Stream stream,
                      const Memory& memory) {
        if (stores.checkpoints == plan.checkpoints && stores.num_rounds >= plan.last_round) return;
        pool.set_table_aside(stream);
        const auto table = detail::table_of_placement(plan.checkpoints, plan.last_round);
        stores = {};
        const detail::GridStores renewed{plan.checkpoints, nullptr,
                                         static_cast<std::int64_t>(table.size()), plan.last_round};
        void* there = nullptr;
        if (!table.empty()) {
            const std::size_t num_bytes = table.size() * sizeof(Placed);
            there = pool.reserve(detail::GridPiece::table, num_bytes);
            memory.copy_in(there, table.data(), num_bytes);
        }
        stores = renewed;
        stores.table = static_cast<const Placed*>(there);
    }
};

}  // namespace eddy::inline v0
