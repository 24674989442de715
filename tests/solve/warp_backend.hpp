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

/// How emulated warps are to run.
struct WarpOptions {
    std::int32_t lanes_per_warp = 64;
    std::uint64_t seed = 1;
    std::int64_t checkpoints = 1 << 12;
    std::int64_t logged_rounds = 1 << 12;
    std::int64_t refill_until = 0;  // rounds
};

template <class Spec>
struct WarpGradient {
    std::vector<double> loss;
    eddy::EnsembleArray<typename Spec::Scalar> y0, p;
    eddy::Outcomes outcomes;
};

/// Runs a kernel on all groups, one warp for each.
template <class Kernel>
void run_on_warps(const eddy::LaunchPlan& plan, const Kernel& kernel, std::uint64_t seed) {
    const std::size_t bytes = eddy::detail::arena_bytes<WarpTeam>(kernel);
    const auto num_warps = static_cast<int>(plan.num_groups());
    std::vector<NanMemory> memories;
    for (int warp = 0; warp < num_warps; ++warp) memories.emplace_back(bytes);
    eddy::test::run_warps(num_warps, seed, [&](int warp, eddy::test::EmulatedWarp& threads) {
        WarpTeam team(threads, plan, warp, warp);
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

/// The lanes' states at the save points, (save point, component, lane), and their outcomes.
template <class Spec, class Y0, class Parameters>
auto solve_on_warps(const Y0& y0, const Parameters& p, const eddy::SolveOptions& options,
                    const typename Spec::Controller& controller, const WarpOptions& warps) {
    using namespace eddy::detail;
    using Kernel = SolveKernel<Spec, StateObservable<typename Spec::Field>>;
    PreparedProblem<Spec> prepared;
    prepared.prepare(options, controller, y0, p, "solve_on_warps");
    eddy::Solution<typename Spec::Scalar> solution;
    const std::ptrdiff_t lanes = prepared.num_lanes();
    solution.reset(lanes, prepared.times().save_time, Spec::state_size, Spec::state_size, {});
    std::vector<eddy::EnsembleView<typename Spec::Scalar>> of_points;
    for (std::ptrdiff_t k = 0; k < solution.num_saves(); ++k) of_points.push_back(solution.y_of(k));
    run_on_warps({lanes, warps.lanes_per_warp},
                 Kernel{prepared.problem,
                        solution.lanes().data(),
                        {of_points.data(), nullptr},
                        warps.lanes_per_warp},
                 warps.seed);
    return solution;
}

template <class Spec, class Loss, class Data, class Y0, class Parameters>
WarpGradient<Spec> gradient_on_warps(const std::vector<Data>& data, const Y0& y0,
                                     const Parameters& p, const eddy::SolveOptions& options,
                                     const typename Spec::Controller& controller,
                                     const WarpOptions& warps) {
    using namespace eddy::detail;
    using Real = typename Spec::Scalar;
    using Objective = LossTermOf<typename Spec::Field, Loss>;
    using Seeds = LossSeeds<Spec>;
    using Kernel = GradientKernel<Spec, Objective, Seeds, TableStores, false>;
    PreparedProblem<Spec> prepared;
    prepared.prepare(options, controller, y0, p, "gradient_on_warps");
    const std::ptrdiff_t lanes = prepared.num_lanes();
    const LaneTimes& times = prepared.problem.times;

    WarpGradient<Spec> result;
    result.loss.assign(static_cast<std::size_t>(lanes), 0);
    result.y0.assign(lanes, Spec::state_size, 0);
    result.p.assign(Spec::shares_parameters ? 1 : lanes, Spec::parameter_size, 0);
    result.outcomes.reset(static_cast<std::size_t>(lanes));
    const GradientTarget<Real> target{result.y0.view(), result.p.view(), {}, {}, {}, {}, {}};
    std::vector<eddy::EnsembleView<const Real>> arrays;
    for (const auto& of_point : data) arrays.push_back(eddy::ensemble_view(of_point));
    const Seeds seeds{arrays.data(), result.loss.data()};

    const eddy::LaunchPlan groups{lanes, warps.lanes_per_warp};
    const auto num_warps = static_cast<std::size_t>(groups.num_groups());
    const std::size_t rows = Spec::sums_by_lane ? static_cast<std::size_t>(lanes) : num_warps;
    std::vector<typename Spec::Lane> parts(rows * std::size_t{Spec::parameter_room},
                                           typename Spec::Lane(0));
    SharedRows<Spec> shared;
    (Spec::sums_by_lane ? shared.parts : shared.sums) = parts.data();
    std::vector<BackCost> costs(num_warps);
    const auto table = placement_table(warps.checkpoints, 20'000);
    GradientPlan plan;
    plan.num_lanes = warps.lanes_per_warp;
    plan.checkpoints = plan.slots = warps.checkpoints;
    plan.logged_rounds = warps.logged_rounds;
    plan.last_round = 1'000'000;
    plan.lane_changes = (times.num_tstops + 1) * (warps.lanes_per_warp + 4);
    plan.refill = {warps.refill_until, warps.refill_until};
    run_on_warps(groups,
                 Kernel{prepared.problem,
                        result.outcomes.lanes().data(),
                        seeds,
                        target,
                        shared,
                        plan,
                        {plan.checkpoints, table.data(), static_cast<std::int64_t>(table.size())},
                        costs.data()},
                 warps.seed);
    if constexpr (Spec::shares_parameters) {
        for (std::size_t k = 0; k < parts.size(); ++k)
            result.p(0, static_cast<std::ptrdiff_t>(k) % Spec::parameter_size) += parts[k];
    }
    return result;
}

}  // namespace support
