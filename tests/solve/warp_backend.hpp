#pragma once
// Solves and gradients on emulated warps: what a backend for a GPU does around the group loops, in
// host memory. All memory of the loops is of the exact size, and filled with NaN.

#include <cstring>
#include <eddy/checkpoint/placement.hpp>
#include <eddy/checkpoint/placement_view.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "solve/warp_team.hpp"

namespace support {

/// Bytes whose every number is NaN.
class NanMemory {
  public:
    explicit NanMemory(std::size_t bytes)
        : bytes_(static_cast<std::byte*>(
              ::operator new(bytes, std::align_val_t(eddy::detail::Arena::alignment)))) {
        std::memset(bytes_.get(), 0xff, bytes);
    }
    [[nodiscard]] eddy::detail::Arena arena() { return eddy::detail::Arena(bytes_.get()); }

  private:
    struct Free {
        void operator()(std::byte* bytes) const {
            ::operator delete(bytes, std::align_val_t(eddy::detail::Arena::alignment));
        }
    };
    std::unique_ptr<std::byte, Free> bytes_;
};

/// The stores of a loop with as many checkpoints, as far as `rounds` after the staircase.
inline std::vector<eddy::Placed> placement_table(std::int64_t checkpoints, std::int64_t rounds) {
    std::vector<eddy::Placed> table;
    if (checkpoints < 2) return table;
    eddy::PlacementSequence sequence(
        eddy::plan_placement({.checkpoints = checkpoints}, "placement_table"));
    sequence.restart();
    const std::int64_t first = eddy::Staircase(checkpoints).end();
    for (eddy::Placed next = sequence.next(); next.step < first + rounds; next = sequence.next())
        if (next.step >= first) table.push_back(next);
    return table;
}

/// Runs a kernel on all groups, one warp for each.
template <class Kernel>
void run_on_warps(const eddy::LaunchPlan& plan, const Kernel& kernel, std::uint64_t seed) {
    const std::size_t bytes = eddy::detail::arena_bytes<WarpTeam>(kernel);
    const auto num_warps = static_cast<int>(plan.num_groups());
    std::vector<NanMemory> memories;
    for (int warp = 0; warp < num_warps; ++warp) memories.emplace_back(bytes);
    eddy::test::run_warps(num_warps, seed, [&](int warp, eddy::test::EmulatedWarp& threads) {
        WarpTeam team(threads, plan, 0, warp);
        kernel(team, memories[static_cast<std::size_t>(warp)].arena());
    });
}

/// The stores of each member: a value of its own.
struct TableStores {
    std::int64_t checkpoints;
    const eddy::Placed* table;
    std::int64_t num_placed;

    [[nodiscard]] eddy::PlacementView operator()(std::ptrdiff_t) const {
        return eddy::PlacementView(checkpoints, table, num_placed);
    }
};

/// A backend whose every group of lanes is a warp; who goes first is drawn from the seed. One worker in
/// name, so that a group has more lanes than a warp has places.
struct Warps {
    struct backend_tag {};

    std::uint64_t seed = 1;

    template <class Real>
    using Lanes = Real;
    template <class Spec>
    using Team = WarpTeam;
    using Memory = eddy::HostMemory;
    [[nodiscard]] static Memory memory() { return {}; }
    using Kept = std::vector<eddy::Placed>;

    [[nodiscard]] std::ptrdiff_t num_workers(std::ptrdiff_t) const { return 1; }
    [[nodiscard]] TableStores stores(const eddy::detail::GradientPlan& plan, std::ptrdiff_t,
                                     Kept& table) const {
        table = placement_table(plan.checkpoints, 20'000);
        return {plan.checkpoints, table.data(), static_cast<std::int64_t>(table.size())};
    }
    template <class Kernel>
    void launch(const eddy::LaunchPlan& plan, const Kernel& kernel, eddy::detail::CallLink&,
                Kept&) const {
        run_on_warps(plan, kernel, seed);
    }
};

}  // namespace support
