#pragma once
// What a launch runs in each warp. A work is a functor of plain values: work(warp), the same text on a
// device and where warps are emulated.

#include <cstddef>
#include <cstdint>
#include <eddy/backends/grid/grid_pool.hpp>
#include <eddy/backends/grid/grid_team.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/group/kernel.hpp>
#include <eddy/solve/lane/saving.hpp>

namespace eddy::inline v0::detail {

/// Blocks of 128 threads that share a processor of a device. What a thread keeps of a lane takes
/// registers, of which there are 65,536: 96 a thread with five blocks, 168 with three, 255 with two.
template <class Spec>
[[nodiscard]] consteval int blocks_for() {
    const std::size_t bytes_of_state =
        static_cast<std::size_t>(Spec::state_size) * sizeof(typename Spec::Lane);
    return bytes_of_state <= 12 ? 5 : bytes_of_state <= 24 ? 3 : 2;
}

/// Warps that stay, and take one group of lanes after another. The last one to leave makes the
/// counters ready for the next launch.
template <class Kernel, class Warp>
struct GroupWork {
    using Team = GridTeam<Warp>;
    static constexpr int blocks_per_processor = blocks_for<typename Kernel::Spec>();

    Kernel kernel;
    LaunchPlan plan;
    std::byte* arenas;  // (worker)
    std::size_t bytes_per_arena;
    GridCounters* counters;
    GridLink link;

    EDDY_HD_AS_ARGUMENT EDDY_HD void operator()(const Warp& warp) const {
        const std::ptrdiff_t worker = warp.index();
        const bool has_memory = worker < plan.num_workers;
        const std::ptrdiff_t end = has_memory ? plan.num_groups() : 0;
        for (std::ptrdiff_t group = next_group(warp); group < end; group = next_group(warp)) {
            Team team(warp, link, plan, worker, group);
            kernel(team, Arena(arenas + static_cast<std::size_t>(worker) * bytes_per_arena));
            warp.sync();
        }
        leave(warp);
    }

  private:
    EDDY_HD_AS_ARGUMENT EDDY_HD std::int64_t next_group(const Warp& warp) const {
        if (warp.index() >= plan.num_workers) return plan.num_groups();
        const std::int64_t taken = warp.member() == 0 ? warp.add(counters->next_group, 1) : 0;
        return warp.from_first(taken);
    }
    EDDY_HD_AS_ARGUMENT EDDY_HD void leave(const Warp& warp) const {
        if (warp.member() != 0 || warp.add(counters->num_left, 1) != warp.num_warps() - 1) return;
        counters->next_group = 0;
        counters->num_left = 0;
    }
};

/// Looks for numbers that are not finite: leaves the first one's place in the order of components,
/// then lanes, less their count; zero where there is none.
template <class Real, class Warp>
struct SearchWork {
    static constexpr int blocks_per_processor = 4;

    EnsembleView<const Real> array;
    GridCounters* counters;

    EDDY_HD_AS_ARGUMENT EDDY_HD void operator()(const Warp& warp) const {
        const std::ptrdiff_t count = array.num_lanes * array.num_components;
        const std::ptrdiff_t threads = warp.num_warps() * 32;
        for (std::ptrdiff_t i = warp.index() * 32 + warp.member(); i < count; i += threads) {
            if (is_number(array(i % array.num_lanes, i / array.num_lanes))) continue;
            warp.lower(counters->before_not_finite, i - count);
            return;
        }
    }
};

/// The same number everywhere.
template <class Real, class Warp>
struct FillWork {
    static constexpr int blocks_per_processor = 4;

    EnsembleView<Real> array;
    Real value;

    EDDY_HD_AS_ARGUMENT EDDY_HD void operator()(const Warp& warp) const {
        const std::ptrdiff_t count = array.num_lanes * array.num_components;
        const std::ptrdiff_t threads = warp.num_warps() * 32;
        for (std::ptrdiff_t i = warp.index() * 32 + warp.member(); i < count; i += threads)
            array(i % array.num_lanes, i / array.num_lanes) = value;
    }
};

}  // namespace eddy::inline v0::detail
