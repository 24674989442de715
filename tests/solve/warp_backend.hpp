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

/// The lanes' states at the save points, (save point, component, lane), and their outcomes.
template <class Spec, class Y0, class Parameters>
auto solve_on_warps(const Y0& y0, const Parameters& p, const eddy::SolveOptions& options,
                    const typename Spec::Controller& controller, const WarpOptions& warps) {
    using namespace eddy::detail;
    using Observable = StateObservable<typename Spec::Field>;
    using Recorder = SolutionRecorder<Spec, Observable>;
    PreparedProblem<Spec> prepared;
    prepared.prepare(options, controller, y0, p, "solve_on_warps");
    eddy::Solution<typename Spec::Scalar> solution;
    const std::ptrdiff_t lanes = prepared.num_lanes();
    solution.reset(lanes, prepared.times().save_time, Spec::state_size, false, Spec::state_size,
                   false);
    const GroupShares shares{lanes, warps.lanes_per_warp};
    const auto num_warps = static_cast<int>(shares.num_groups());
    std::vector<ForwardMemory> memory(static_cast<std::size_t>(num_warps));
    std::vector<std::vector<double>> sizes;
    std::vector<std::vector<std::int32_t>> saved;
    for (int warp = 0; warp < num_warps; ++warp) {
        const auto count = static_cast<std::size_t>(shares.lanes_of(warp));
        sizes.emplace_back(count, std::numeric_limits<double>::quiet_NaN());
        saved.emplace_back(count, -7);
        memory[static_cast<std::size_t>(warp)] = {
            sizes.back().data(), saved.back().data(),
            solution.lanes().data() + warp * shares.group_size};
    }
    eddy::test::run_warps(num_warps, warps.seed, [&](int warp, eddy::test::EmulatedWarp& threads) {
        const std::ptrdiff_t first = warp * shares.group_size;
        WarpTeam team(threads, first, shares.lanes_of(warp));
        Recorder recorder(prepared.problem, first,
                          {solution.y_data(), solution.tangent_data(), lanes}, {});
        solve_group(team, prepared.problem, memory[static_cast<std::size_t>(warp)], recorder);
    });
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
    using Recorder = GradientRecorder<Spec, Objective, Seeds>;
    using Memory = GradientMemory<Spec, WarpTeam>;
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

    const GroupShares shares{lanes, warps.lanes_per_warp};
    const auto num_warps = static_cast<int>(shares.num_groups());
    std::vector<typename Spec::Lane> sums(
        static_cast<std::size_t>(num_warps * Spec::parameter_room), typename Spec::Lane(0));
    const auto table = placement_table(warps.checkpoints, 20'000);
    GradientPlan plan;
    plan.num_lanes = warps.lanes_per_warp;
    plan.checkpoints = plan.slots = warps.checkpoints;
    plan.logged_rounds = warps.logged_rounds;
    plan.last_round = 1'000'000;
    plan.lane_changes = (times.num_tstops + 1) * (warps.lanes_per_warp + 4);
    plan.refill = {warps.refill_until, warps.refill_until};
    const auto lay_out = [&](Arena& arena, int member) {
        return std::pair{Memory(arena, plan, member),
                         RecorderMemory<Spec>(arena, plan.num_lanes, times.num_saves)};
    };
    Arena counting;
    static_cast<void>(lay_out(counting, 0));
    std::vector<NanMemory> memories;
    for (int warp = 0; warp < num_warps; ++warp) memories.emplace_back(counting.num_bytes());

    eddy::test::run_warps(num_warps, warps.seed, [&](int warp, eddy::test::EmulatedWarp& threads) {
        const std::ptrdiff_t first = warp * shares.group_size;
        WarpTeam team(threads, first, shares.lanes_of(warp));
        Arena arena = memories[static_cast<std::size_t>(warp)].arena();
        auto [memory, of_recorder] = lay_out(arena, team.member());
        memory.forward.outcomes = result.outcomes.lanes().data() + first;
        Recorder recorder(prepared.problem, first, team.num_lanes(), seeds, target,
                          {nullptr, sums.data() + warp * Spec::parameter_size}, of_recorder);
        eddy::PlacementView stores(plan.checkpoints, table.data(),
                                   static_cast<std::int64_t>(table.size()));
        BackCost cost;
        using Group = GroupGradient<Spec, WarpTeam, Recorder, eddy::PlacementView, false>;
        auto group = std::make_unique<Group>(team, prepared.problem, memory, recorder, stores);
        group->run(cost);
    });
    if constexpr (Spec::shares_parameters) {
        for (std::size_t k = 0; k < sums.size(); ++k)
            result.p(0, static_cast<std::ptrdiff_t>(k) % Spec::parameter_size) += sums[k];
    }
    return result;
}

}  // namespace support
