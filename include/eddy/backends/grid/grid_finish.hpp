#pragma once
// What a gradient's launch on a device is followed by: sums over its lanes, in the shape in which the host
// adds them up, and what its groups have cost. One launch does all of it.
// Test: tests/backends/grid_finish.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/call/launch_plan.hpp>
#include <eddy/solve/group/back_cost.hpp>
#include <eddy/solve/group/kernel.hpp>
#include <eddy/solve/lane/lane_sums.hpp>
#include <eddy/solve/lane/outcome.hpp>
#include <limits>
#include <type_traits>

namespace eddy::inline v0::detail {

/// Losses that lie there: those of each block of lanes are added in the order of the lanes, a thread a
/// block; that of a lane that failed counts as zero, and becomes NaN. Where the total is wanted as well, each warp
/// adds its blocks in pairs, and the last that is done the sums of all.
template <class Real>
struct BlockLosses {
    const LaneOutcome* outcomes = nullptr;  // (lane)
    Real* loss = nullptr;                   // (lane)
    std::ptrdiff_t stride = 1, num_lanes = 0;
    double* sums = nullptr;                      // (block); null: the host adds
    double* total = nullptr;                     // null: the host adds the blocks
    std::int64_t* num_done = nullptr;            // warps; zero before and after a launch
    const std::int64_t* failed_paths = nullptr;  // (lane), of so many; null: a lane is one path
    std::int64_t paths = 1;

    [[nodiscard]] EDDY_HD std::ptrdiff_t num_warps() const {
        return sums ? (num_blocks(num_lanes) + 31) / 32 : 0;
    }
    template <class Warp>
    EDDY_HD void add(const Warp& warp, std::ptrdiff_t index) const {
        const std::ptrdiff_t block = index * 32 + warp.member(), first = block * lanes_per_block;
        if (first < num_lanes)
            sums[block] = sum_of_block<double>(first, eddy::min(num_lanes, first + lanes_per_block),
                                               [&](std::ptrdiff_t lane) { return of_lane(lane); });
        if (!total) return;
        add_pairs(warp, index * 32, 1, eddy::min(num_blocks(num_lanes), index * 32 + 32));
        if (is_last(warp)) add_warps(warp);
    }

  private:
    /// Adds sums[first], sums[first + apart] …, before `end`, as many as there are members, or fewer: leaves
    /// their sum in the first. What is left over joins from the right, as in PairwiseSum.
    template <class Warp>
    EDDY_HD void add_pairs(const Warp& warp, std::ptrdiff_t first, std::ptrdiff_t apart,
                           std::ptrdiff_t end) const {
        const std::ptrdiff_t at = first + warp.member() * apart;
        for (int distance = 1; distance < 32; distance *= 2) {
            warp.sync();
            const std::ptrdiff_t other = at + distance * apart;
            if (warp.member() % (2 * distance) == 0 && other < end)
                sums[at] = sums[at] + sums[other];
        }
        warp.sync();
    }
    /// Is this the last of all warps? The last one sees what the others have written.
    template <class Warp>
    [[nodiscard]] EDDY_HD bool is_last(const Warp& warp) const {
        bool last = false;
        if (warp.member() == 0) {
            warp.publish();
            last = warp.add(*num_done, 1) == num_warps() - 1;
            if (last) warp.write(*num_done, std::int64_t{0});
            warp.publish();
        }
        return warp.from_first(last) != 0;
    }
    /// Each has left the sum of its 32 blocks in the first: a member takes 2^k neighbouring warps.
    template <class Warp>
    EDDY_HD void add_warps(const Warp& warp) const {
        std::ptrdiff_t of_member = 32;
        while (32 * of_member < num_blocks(num_lanes)) of_member *= 2;
        const std::ptrdiff_t blocks = num_blocks(num_lanes), first = warp.member() * of_member;
        if (first < blocks) {
            PairwiseSum<double> sum;
            for (std::ptrdiff_t block = first; block < eddy::min(blocks, first + of_member);
                 block += 32)
                sum.add(warp.read(sums[block]));
            sums[first] = sum.total();
        }
        add_pairs(warp, 0, of_member, blocks);
        if (warp.member() == 0) *total = sums[0];
    }
    [[nodiscard]] EDDY_HD double of_lane(std::ptrdiff_t lane) const {
        Real& number = loss[lane * stride];
        const bool has_none =
            failed_paths ? failed_paths[lane] == paths : is_failure(outcomes[lane].result);
        if (!has_none) return static_cast<double>(number);
        number = std::numeric_limits<Real>::quiet_NaN();
        return 0;
    }
};

/// The rows of a shared gradient: adds those of a block in their order, then blocks in pairs
/// (lane/lane_sums.hpp), a warp a component. A member takes 2^k neighbouring blocks, whose partial sum is one of
/// those of the pairs. Rows stay as they are.
template <class Real>
struct SharedRowSums {
    const Real* rows = nullptr;  // (row, component); null: the host adds
    std::ptrdiff_t num_rows = 0, rows_of_block = 1;
    EnsembleView<Real> total{};    // (1, component)
    Real* partial_sums = nullptr;  // (member, component)

    [[nodiscard]] EDDY_HD std::ptrdiff_t num_warps() const {
        return rows ? total.num_components : 0;
    }
    template <class Warp>
    EDDY_HD void add(const Warp& warp, std::ptrdiff_t i) const {
        const std::ptrdiff_t blocks = (num_rows + rows_of_block - 1) / rows_of_block;
        std::ptrdiff_t of_member = 1;
        while (32 * of_member < blocks) of_member *= 2;
        const std::ptrdiff_t first = warp.member() * of_member;
        if (first < blocks) {
            PairwiseSum<Real> sum;
            for (std::ptrdiff_t block = first; block < eddy::min(blocks, first + of_member);
                 ++block)
                sum.add(of_block(block, i));
            partial_sum(warp.member(), i) = sum.total();
        }
        warp.sync();
        if (warp.member() != 0) return;
        PairwiseSum<Real> sum;
        for (std::ptrdiff_t block = 0; block < blocks; block += of_member)
            sum.add(partial_sum(block / of_member, i));
        total(0, i) = sum.total();
    }

  private:
    [[nodiscard]] EDDY_HD Real& partial_sum(std::ptrdiff_t member, std::ptrdiff_t i) const {
        return partial_sums[member * total.num_components + i];
    }
    [[nodiscard]] EDDY_HD Real row(std::ptrdiff_t index, std::ptrdiff_t i) const {
        return rows[index * total.num_components + i];
    }
    [[nodiscard]] EDDY_HD Real of_block(std::ptrdiff_t block, std::ptrdiff_t i) const {
        if (rows_of_block == 1) return row(block, i);
        const std::ptrdiff_t first = block * rows_of_block;
        return sum_of_block<Real>(first, eddy::min(num_rows, first + rows_of_block),
                                  [&](std::ptrdiff_t index) { return row(index, i); });
    }
};

/// What the groups of a launch have cost, in one. Bytes are those of as many groups as have room at a time.
struct GroupCosts {
    const BackCost* costs = nullptr;  // (group)
    std::ptrdiff_t num_groups = 0, num_workers = 1;
    BackCost* total = nullptr;
    bool goes_on = false;  // with the total of launches before

    template <class Warp>
    EDDY_HD void add(const Warp& warp) const {
        BackCost sum;
        for (std::ptrdiff_t group = warp.member(); group < num_groups; group += 32)
            detail::add(sum, costs[group]);
        LoopCounters& loops = sum.loops;
        loops.advances = warp.sum(loops.advances);
        loops.recomputed = warp.sum(loops.recomputed);
        loops.pullbacks = warp.sum(loops.pullbacks);
        loops.stores = warp.sum(loops.stores);
        loops.loads = warp.sum(loops.loads);
        loops.peak_checkpoints = warp.max(loops.peak_checkpoints);
        sum.evaluations = warp.sum(sum.evaluations);
        sum.most_bytes = warp.max(sum.most_bytes) * eddy::min(num_groups, num_workers);
        if (warp.member() != 0) return;
        if (goes_on) detail::add(sum, *total);
        *total = sum;
    }
};

/// Does all of the finishing work, each part by warps of its own.
template <class Real, class Warp>
struct FinishWork {
    static constexpr int warps_per_processor = 32;

    BlockLosses<Real> losses;
    SharedRowSums<Real> shared;
    GroupCosts costs;

    [[nodiscard]] std::ptrdiff_t num_warps() const {
        return losses.num_warps() + shared.num_warps() + 1;
    }
    EDDY_HD_AS_ARGUMENT EDDY_HD void operator()(const Warp& warp) const {
        std::ptrdiff_t index = warp.index();
        if (index == 0) return costs.add(warp);
        if (--index < losses.num_warps()) return losses.add(warp, index);
        index -= losses.num_warps();
        if (index < shared.num_warps()) shared.add(warp, index);
    }
};

/// Sums over the lanes of a gradient, so far as the host does not make them.
template <class Warp, class Kernel>
[[nodiscard]] auto finish_work(const Kernel& kernel, const LaunchPlan& plan, BackCost* cost,
                               std::int64_t* num_done) {
    using Spec = typename Kernel::Spec;
    FinishWork<typename Kernel::Real, Warp> work;
    work.costs = {kernel.costs, plan.num_groups(), plan.num_workers, cost};
    if constexpr (Kernel::kind == KernelKind::gradient)
        work.losses = {kernel.outcomes, kernel.seeds.loss,       kernel.seeds.loss_stride,
                       plan.num_lanes,  kernel.seeds.block_sums, kernel.seeds.total,
                       num_done};
    if constexpr (Spec::shares_parameters && Spec::parameter_size > 0 && !Spec::is_dual) {
        const auto& shared = kernel.shared;
        if (shared.may_be_added && shared.addends)
            work.shared = {shared.addends, plan.num_lanes, lanes_per_block, kernel.target.p,
                           shared.partial_sums};
        else if (shared.may_be_added)
            work.shared = {shared.sums,
                           Spec::sums_by_lane ? num_blocks(plan.num_lanes) : plan.num_groups(), 1,
                           kernel.target.p, shared.partial_sums};
    }
    return work;
}

}  // namespace eddy::inline v0::detail
