#pragma once
// What a launch runs in each warp. A work is a functor of plain values: work(warp), the same text on a
// device and where warps are emulated.

#include <cstddef>
#include <cstdint>
#include <eddy/backends/grid/grid_pool.hpp>
#include <eddy/backends/grid/grid_team.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/group/kernel.hpp>
#include <eddy/solve/lane/lane_sums.hpp>
#include <eddy/solve/lane/saving.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// Warps, each a block of its own, that share a processor of a device. What a thread keeps of a lane
/// takes registers, of which there are 65,536: 96 a thread with 20 warps, 128 with 16, 168 with 12, 255
/// with 8. A gradient that lets numbers go to memory for the sake of more warps is the slower for it:
/// Lorenz on an H100 by 10 % with 32,768 lanes, by 6 % with 524,288; its solve is 24 % faster with 12.
template <class Spec, bool goes_back>
[[nodiscard]] consteval int warps_for() {
    const std::size_t bytes_of_state =
        static_cast<std::size_t>(Spec::state_size) * sizeof(typename Spec::Lane);
    if (bytes_of_state <= 12) return goes_back ? 16 : 20;
    return bytes_of_state <= 24 && !goes_back ? 12 : 8;
}

/// Does a kernel go back, and say what that has cost?
template <class Kernel>
inline constexpr bool kernel_goes_back = requires(Kernel kernel) {
    kernel.costs;
};

/// A warp for each group of lanes. As many as the device holds at once have memory to work in: a warp
/// claims a free arena when it begins, and gives it back at its end. (Warps that stay, and take one
/// group after another, take more registers: what is the same for all groups is then kept in them.)
template <class Kernel, class Warp>
struct GroupWork {
    using Team = GridTeam<Warp>;
    static constexpr int warps_per_processor =
        warps_for<typename Kernel::Spec, kernel_goes_back<Kernel>>();

    Kernel kernel;
    LaunchPlan plan;
    std::byte* arenas;  // (worker)
    std::size_t bytes_per_arena;
    std::int32_t* is_busy;  // (worker); zero before and after a launch
    GridLink link;

    EDDY_HD_AS_ARGUMENT EDDY_HD void operator()(const Warp& warp) const {
        const std::ptrdiff_t group = warp.index();
        if (group * plan.group_size >= plan.num_lanes) return;
        const std::ptrdiff_t worker = claim_arena(warp);
        Team team(warp, link, plan, worker, group);
        kernel(team, Arena(arenas + static_cast<std::size_t>(worker) * bytes_per_arena));
        warp.sync();
        if (warp.member() == 0) warp.give_back(is_busy[worker]);
    }

  private:
    EDDY_HD_AS_ARGUMENT [[gnu::noinline]] EDDY_HD std::ptrdiff_t claim_arena(
        const Warp& warp) const {
        std::ptrdiff_t worker = 0;
        if (warp.member() == 0) {
            worker = warp.index() % plan.num_workers;
            while (!warp.claim(is_busy[worker])) worker = (worker + 1) % plan.num_workers;
        }
        return warp.from_first(worker);
    }
};

/// Looks for numbers that are not finite: leaves the first one's place in the order of components,
/// then lanes, less their count; zero where there is none.
template <class Real, class Warp>
struct SearchWork {
    static constexpr int warps_per_processor = 32;

    EnsembleView<const Real> array;
    std::int64_t* found;

    EDDY_HD_AS_ARGUMENT EDDY_HD void operator()(const Warp& warp) const {
        const std::ptrdiff_t count = array.num_lanes * array.num_components;
        const std::ptrdiff_t threads = warp.num_warps() * 32;
        for (std::ptrdiff_t i = warp.index() * 32 + warp.member(); i < count; i += threads) {
            if (is_number(array(i % array.num_lanes, i / array.num_lanes))) continue;
            warp.lower(*found, i - count);
            return;
        }
    }
};

/// The same everywhere.
template <class T, class Warp>
struct FillWork {
    static constexpr int warps_per_processor = 32;

    EnsembleView<T> array;
    T value;

    EDDY_HD_AS_ARGUMENT EDDY_HD void operator()(const Warp& warp) const {
        const std::ptrdiff_t count = array.num_lanes * array.num_components;
        const std::ptrdiff_t threads = warp.num_warps() * 32;
        for (std::ptrdiff_t i = warp.index() * 32 + warp.member(); i < count; i += threads)
            array(i % array.num_lanes, i / array.num_lanes) = value;
    }
};

/// What the host does with losses that lie there: those of each block of lanes are added in the order
/// of the lanes, a thread a block; that of a lane that failed counts as zero, and becomes NaN.
template <class Real, class Warp>
struct LossWork {
    static constexpr int warps_per_processor = 32;

    const LaneOutcome* outcomes;  // (lane)
    Real* loss;                   // (lane)
    std::ptrdiff_t stride, num_lanes;
    double* sums;  // (block)

    EDDY_HD_AS_ARGUMENT EDDY_HD void operator()(const Warp& warp) const {
        const std::ptrdiff_t threads = warp.num_warps() * 32;
        for (std::ptrdiff_t block = warp.index() * 32 + warp.member();
             block < num_blocks(num_lanes); block += threads) {
            const std::ptrdiff_t first = block * lanes_per_block;
            double sum = 0;
            for (std::ptrdiff_t lane = first; lane < eddy::min(num_lanes, first + lanes_per_block);
                 ++lane)
                sum = sum + of_lane(lane);
            sums[block] = sum;
        }
    }

  private:
    [[nodiscard]] EDDY_HD double of_lane(std::ptrdiff_t lane) const {
        Real& number = loss[lane * stride];
        if (!is_failure(outcomes[lane].result)) return static_cast<double>(number);
        number = std::numeric_limits<Real>::quiet_NaN();
        return 0;
    }
};

/// What the host does with the rows of a shared gradient: adds those of a block in their order, then
/// blocks in pairs (lane/lane_sums.hpp), a warp a component. A member takes a run of 2^k blocks, whose sum
/// is one of those of the pairs, and leaves it in the first row of its run.
template <class Real, class Warp>
struct SharedSumWork {
    static constexpr int warps_per_processor = 32;

    Real* rows;  // (row, component)
    std::ptrdiff_t num_rows, rows_of_block;
    EnsembleView<Real> total;  // (1, component)

    EDDY_HD_AS_ARGUMENT EDDY_HD void operator()(const Warp& warp) const {
        const std::ptrdiff_t blocks = (num_rows + rows_of_block - 1) / rows_of_block;
        std::ptrdiff_t run = 1;
        while (32 * run < blocks) run *= 2;
        for (std::ptrdiff_t i = warp.index(); i < total.num_components; i += warp.num_warps()) {
            const std::ptrdiff_t first = warp.member() * run;
            if (first < blocks) {
                PairwiseSum<Real> sum;
                for (std::ptrdiff_t block = first; block < eddy::min(blocks, first + run); ++block)
                    sum.add(of_block(block, i));
                row(first * rows_of_block, i) = sum.total();
            }
            warp.sync();
            if (warp.member() != 0) continue;
            PairwiseSum<Real> sum;
            for (std::ptrdiff_t block = 0; block < blocks; block += run)
                sum.add(row(block * rows_of_block, i));
            total(0, i) = sum.total();
        }
    }

  private:
    [[nodiscard]] EDDY_HD Real& row(std::ptrdiff_t index, std::ptrdiff_t i) const {
        return rows[index * total.num_components + i];
    }
    [[nodiscard]] EDDY_HD Real of_block(std::ptrdiff_t block, std::ptrdiff_t i) const {
        if (rows_of_block == 1) return row(block, i);
        const std::ptrdiff_t first = block * rows_of_block;
        return sum_of_block<Real>(first, eddy::min(num_rows, first + rows_of_block),
                                  [&](std::ptrdiff_t index) { return row(index, i); });
    }
};

}  // namespace eddy::inline v0::detail
