#pragma once
// A backend for a machine with kernels: one thread a lane, a warp a team for each group of lanes, and
// memory for as many as the machine holds at once. All of it but the thin functions of the
// runtime (runtime.hpp) is text of the host, or of both.

#include <algorithm>
#include <cstddef>
#include <eddy/backends/grid/grid_memory.hpp>
#include <eddy/backends/grid/grid_work.hpp>
#include <eddy/checkpoint/placement.hpp>
#include <eddy/checkpoint/placement_view.hpp>
#include <eddy/core/error.hpp>
#include <eddy/solve/call/backend.hpp>
#include <eddy/solve/call/gradient_plan.hpp>
#include <vector>

namespace eddy::inline v0 {

namespace detail {

/// The stores of a gradient's placement, (worker): each walks a table of its own accord.
struct GridStores {
    std::int64_t checkpoints = 1;
    const Placed* table = nullptr;
    std::int64_t num_placed = 0;

    [[nodiscard]] EDDY_HD PlacementView operator()(std::ptrdiff_t) const {
        return PlacementView(checkpoints, table, num_placed);
    }
};

/// The stores of a loop of `rounds` rounds after the staircase, as many as a table should hold.
[[nodiscard]] EDDY_EXPORT std::vector<Placed> table_of_placement(std::int64_t checkpoints,
                                                                 std::int64_t rounds);

/// What a solver object keeps. A copy begins empty.
template <class Runtime>
struct GridKept {
    GridPool<Runtime> pool;
    GridStores stores;
    std::int64_t rounds_of_table = 0;
};

}  // namespace detail

template <class Runtime>
struct GridBackend {
    struct backend_tag {};

    int device = 0;
    /// In which all work is put, in order.
    typename Runtime::Stream stream{};

    template <class Real>
    using Lanes = Real;
    template <class Spec>
    using Team = detail::GridTeam<typename Runtime::Warp>;
    using Memory = GridMemory<Runtime>;
    using Kept = detail::GridKept<Runtime>;

    [[nodiscard]] Memory memory() const { return {device, stream, nullptr}; }
    [[nodiscard]] Memory memory(Kept& kept) const { return {device, stream, &kept.pool}; }

    void require_valid(const char* where) const {
        int devices = 0;
        detail::require_done<Runtime>(Runtime::num_devices(devices), "counting devices");
        require_argument(device >= 0 && device < devices,
                         "{}: Cuda with device = {}, but this machine has {}; they count from 0",
                         where, device, devices);
    }

    /// Warps that the device holds at once, if each of their threads has a lane of the equation.
    template <class Spec>
    [[nodiscard]] std::ptrdiff_t num_workers_for(std::ptrdiff_t num_groups) const {
        return workers(num_groups, detail::warps_for<Spec>());
    }
    [[nodiscard]] std::ptrdiff_t num_workers(std::ptrdiff_t num_groups) const {
        return workers(num_groups, 1);
    }

    /// A budget that nobody has set is a quarter of the free memory, 4 GiB at most.
    [[nodiscard]] detail::MemoryLimits memory_limits(std::size_t budget, Kept& kept) const {
        constexpr std::size_t most = std::size_t{4} << 30;
        const detail::DeviceInUse<Runtime> in_use(device);
        kept.pool.use(device);
        const std::size_t num_free = kept.pool.bytes_free_at_first();
        const bool is_set = budget != SolveOptions{}.memory_budget;
        return {is_set ? budget : std::min(most, num_free / 4),
                static_cast<std::int64_t>(num_free / 8 * 7)};
    }

    [[nodiscard]] detail::GridStores stores(const detail::GradientPlan& plan, std::ptrdiff_t,
                                            Kept& kept) const {
        detail::GridStores& stores = kept.stores;
        if (stores.checkpoints == plan.checkpoints && kept.rounds_of_table >= plan.last_round)
            return stores;
        const auto table = detail::table_of_placement(plan.checkpoints, plan.last_round);
        stores = {plan.checkpoints, nullptr, static_cast<std::int64_t>(table.size())};
        kept.rounds_of_table = plan.last_round;
        if (table.empty()) return stores;
        const detail::DeviceInUse<Runtime> in_use(device);
        kept.pool.use(device);
        void* const there = kept.pool.table(table.size() * sizeof(Placed));
        memory(kept).copy_in(there, table.data(), table.size() * sizeof(Placed));
        stores.table = static_cast<const Placed*>(there);
        return stores;
    }

    template <class Kernel>
    void launch(const LaunchPlan& plan, const Kernel& kernel, detail::CallLink& call,
                Kept& kept) const {
        using Work = detail::GroupWork<Kernel, typename Runtime::Warp>;
        static_assert(std::is_trivially_copyable_v<Work>);
        constexpr std::size_t line = 256;  // arenas begin where lines of memory do
        const std::size_t bytes =
            (detail::arena_bytes<typename Work::Team>(kernel) + line - 1) / line * line;
        const detail::DeviceInUse<Runtime> in_use(device);
        void* const arenas = memory(kept).allocate(
            std::max(line, bytes * static_cast<std::size_t>(plan.num_workers)));
        const auto mailbox = kept.pool.mailbox();
        const detail::GridLink link{&mailbox.there->cancelled,
                                    call.is_watched() ? mailbox.there : nullptr};
        const Work work{kernel,
                        plan,
                        static_cast<std::byte*>(arenas),
                        bytes,
                        kept.pool.template zeros<std::int32_t>(plan.num_workers, stream),
                        link};
        if (call.is_cancelled()) mailbox.here->cancelled = 1;
        detail::require_done<Runtime>(Runtime::launch(work, plan.num_groups(), stream),
                                      "launching a kernel");
        if (call.may_be_stopped()) attend(call, *mailbox.here);
        detail::require_done<Runtime>(Runtime::synchronize(stream), "a kernel");
    }

  private:
    [[nodiscard]] std::ptrdiff_t workers(std::ptrdiff_t num_groups, int per_processor) const {
        int processors = 1;
        detail::require_done<Runtime>(Runtime::num_processors(device, processors),
                                      "asking for the size of the device");
        const std::ptrdiff_t resident = std::ptrdiff_t{processors} * per_processor;
        return std::clamp<std::ptrdiff_t>(num_groups, 1, std::max<std::ptrdiff_t>(1, resident));
    }
    /// While the kernel runs: the caller is asked, told how far it is, and passed on to the kernel.
    void attend(detail::CallLink& call, detail::GridMailbox& box) const {
        volatile detail::GridMailbox& shared = box;
        detail::GridMailbox told;
        for (bool is_done = false; !is_done;) {
            detail::require_done<Runtime>(Runtime::is_done(stream, is_done), "a kernel");
            if (!is_done) Runtime::pause();
            if (call.has_poll()) call.look();
            if (call.is_cancelled()) shared.cancelled = 1;
            if (!call.is_watched()) continue;
            const detail::GridMailbox now{0, shared.lanes_done, shared.accepted, shared.rejected};
            call.ended(now.lanes_done - told.lanes_done, now.accepted - told.accepted,
                       now.rejected - told.rejected);
            told = now;
        }
    }
};

}  // namespace eddy::inline v0
