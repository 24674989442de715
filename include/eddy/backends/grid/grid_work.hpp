#pragma once
// What a launch runs in each warp. A work is a functor of plain values: work(warp), the same text on a
// device and where warps are emulated.
// Test: tests/solve/grid_backend.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/backends/grid/grid_pool.hpp>
#include <eddy/backends/grid/grid_team.hpp>
#include <eddy/backends/grid/lane_order.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/call/row_task.hpp>
#include <eddy/solve/group/kernel.hpp>

namespace eddy::inline v0::detail {

/// Warps, each a block of its own, that share a processor of a device. What a thread keeps of a lane
/// takes registers, of which there are 65,536: 96 a thread with 20 warps, 128 with 16, 168 with 12, 255
/// with 8. A gradient that lets numbers go to memory for the sake of more warps is the slower for it:
/// Lorenz on an H100 by 10 % with 32,768 lanes, by 6 % with 524,288; its solve is 24 % faster with 12. In single
/// precision a solve that chooses its steps has more to keep than one of constant steps.
template <class Spec, bool goes_back>
[[nodiscard]] consteval int warps_for() {
    const std::size_t bytes_of_state =
        static_cast<std::size_t>(Spec::state_size) * sizeof(typename Spec::Lane);
    if (bytes_of_state <= 12) return goes_back || Spec::is_adaptive ? 16 : 20;
    return bytes_of_state <= 24 && !goes_back ? 12 : 8;
}

/// A warp for each group of lanes. As many as the device holds at once have memory to work in: a warp
/// claims a free arena when it begins, and gives it back at its end. (Warps that stay, and take one
/// group after another, take more registers: what is the same for all groups is then kept in them.)
template <class Kernel, class Warp>
struct GroupWork {
    using Team = GridTeam<Warp>;
    static constexpr int warps_per_processor =
        warps_for<typename Kernel::Spec, is_gradient<Kernel>>();

    Kernel kernel;
    LaunchPlan plan;
    std::byte* arenas;  // (worker)
    std::size_t bytes_per_arena;
    /// (worker) zero before and after a launch; null where each group has an arena of its own, and no other chunk
    /// of lanes is at work there: atomic operations, and fences around them, wait for the memory of the device.
    std::int32_t* is_busy;
    RowTasks row_tasks, row_puts;  // before its lanes begin, and when they have ended
    Rows rows;                     // that they take, and put into
    std::int32_t* next_order;      // (lane) of its group; null: nobody wants one
    GridLink link;

    EDDY_HD_AS_ARGUMENT EDDY_HD void operator()(const Warp& warp) const {
        if (warp.index() * plan.group_size >= plan.num_lanes) return;
        const std::ptrdiff_t worker = open_group(warp);
        Team team(warp, link, plan, warp.index());
        kernel(team, Arena(arena(worker)));
        close_group(warp, worker);
    }

  private:
    [[nodiscard]] EDDY_HD std::byte* arena(std::ptrdiff_t worker) const {
        return arenas + static_cast<std::size_t>(worker) * bytes_per_arena;
    }
    /// What the group's lanes find when they begin, and an arena, which this returns.
    EDDY_HD_AS_ARGUMENT [[gnu::noinline]] EDDY_HD std::ptrdiff_t open_group(
        const Warp& warp) const {
        const std::ptrdiff_t group = warp.index(), first = plan.first_lane(group),
                             end = first + plan.lanes_of(group);
        const bool all_finite =
            row_tasks.run({group, first, end, rows}, warp.member(), Team::num_members);
        for (std::ptrdiff_t lane = first + warp.member(); lane < end; lane += Team::num_members) {
            kernel.outcomes[lane] = {};
            if (kernel.marks) kernel.marks[lane] = {};
        }
        if constexpr (is_gradient<Kernel>) {
            if (warp.member() == 0) kernel.costs[group] = {};
        }
        if (!all_finite && link.mailbox) warp.write(link.mailbox->is_not_finite, 1);
        warp.sync();  // others read what a member has put into its rows
        if (!is_busy) return group;
        std::ptrdiff_t worker = 0;
        if (warp.member() == 0) {
            worker = warp.likely_free(plan.num_workers);
            while (!warp.claim(is_busy[worker]))
                worker = worker + 1 < plan.num_workers ? worker + 1 : 0;
        }
        worker = warp.from_first(worker);
        // What others have written in the arena was before, for all members: a shuffle orders nothing.
        warp.sync();
        return worker;
    }
    /// What became of its lanes, once it has no use for its arena any more.
    EDDY_HD_AS_ARGUMENT [[gnu::noinline]] EDDY_HD void close_group(const Warp& warp,
                                                                   std::ptrdiff_t worker) const {
        const std::ptrdiff_t first = plan.first_lane(warp.index());
        const std::int32_t count = plan.lanes_of(warp.index());
        warp.sync();
        static_cast<void>(row_puts.run({warp.index(), first, first + count, rows}, warp.member(),
                                       Team::num_members));
        if (link.mailbox) {
            bool any_failed = false;
            for (std::int32_t lane = warp.member(); lane < count; lane += Team::num_members)
                any_failed = any_failed || is_failure(kernel.outcomes[first + lane].result);
            if (warp.any(any_failed) && warp.member() == 0) warp.write(link.mailbox->has_failed, 1);
            if constexpr (is_gradient<Kernel>) tell_of_marks(warp, first, count);
        }
        if constexpr (sorts_lanes<typename Kernel::Spec>) {
            if (next_order)
                LaneSort<Warp>(warp, kernel.outcomes + first, count,
                               reinterpret_cast<std::int32_t*>(arena(worker)))
                    .run(next_order + first);
        }
        warp.sync();
        if (is_busy && warp.member() == 0) warp.give_back(is_busy[worker]);
    }
    /// Tells of lanes that are marked, where they will be solved once more.
    EDDY_HD_AS_ARGUMENT EDDY_HD void tell_of_marks(const Warp& warp, std::ptrdiff_t first,
                                                   std::int32_t count) const {
        if (!kernel.leaves_out_marked) return;
        bool any_marked = false;
        for (std::int32_t lane = warp.member(); lane < count; lane += Team::num_members)
            any_marked = any_marked || kernel.marks[first + lane].ratio > 0;
        if (warp.any(any_marked) && warp.member() == 0) warp.write(link.mailbox->has_marked, 1);
    }
};

}  // namespace eddy::inline v0::detail
