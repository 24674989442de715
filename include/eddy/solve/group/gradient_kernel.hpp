#pragma once
// The kernel of value_and_gradient, pullback and hessian_vector_product.
// Test: tests/solve/warps.cpp

#include <eddy/solve/group/group_gradient.hpp>
#include <eddy/solve/group/kernel.hpp>
#include <eddy/solve/lane/gradient_recorder.hpp>
#include <eddy/solve/lane/lost_states.hpp>
#include <eddy/solve/lane/path_runs.hpp>

namespace eddy::inline v0::detail {

/// The rows to which all groups bring their addends of a shared gradient: one number for each
/// parameter.
template <class Spec>
struct SharedRows {
    using Lane = typename Spec::Lane;

    Lane* addends = nullptr;  // (lane), where lanes are few
    Lane* sums = nullptr;     // (block of lanes), or (group) beyond 64 parameters
    /// Who launches may add them up, where they lie, into the target; else the host does.
    bool may_be_added = false;
    static constexpr int most_partial_sums = 32;
    Lane* partial_sums = nullptr;  // (partial sum): room for who adds up

    [[nodiscard]] EDDY_HD SharedTarget<Lane> of_group(std::ptrdiff_t first_lane,
                                                      std::ptrdiff_t group) const {
        if (addends) return {addends + first_lane * Spec::parameter_size, nullptr};
        const std::ptrdiff_t row = Spec::sums_by_lane ? first_lane / lanes_per_block : group;
        return {nullptr, sums ? sums + row * Spec::parameter_size : nullptr};
    }
};

/// Numbers of rows whose sums over paths are wanted: the loss, its derivatives with respect to y0, with tangents
/// after them, and to p, the same.
template <class Spec>
struct GradientNumbers {
    using Real = typename Spec::Scalar;
    static constexpr std::ptrdiff_t num_y0 = Spec::state_size, num_p = Spec::parameter_size,
                                    reals_per_number = Spec::is_dual ? 2 : 1,
                                    first_of_p = 1 + num_y0 * reals_per_number,
                                    count = first_of_p + num_p * reals_per_number;

    const Real* loss;
    std::ptrdiff_t loss_stride;
    GradientTarget<Real> target;
    const typename Spec::Lane* addends;  // (row, component) of shared parameters

    [[nodiscard]] EDDY_HD double sum(std::ptrdiff_t number, const PathRuns::Range& rows,
                                     const LaneOutcome* outcomes) const {
        return sum_of_run<double>(rows, outcomes, [&](std::ptrdiff_t row, double& block) {
            block += static_cast<double>(value(row, number));
        });
    }

  private:
    [[nodiscard]] EDDY_HD Real value(std::ptrdiff_t row, std::ptrdiff_t number) const {
        if (number == 0) return loss[row * loss_stride];
        if (number < first_of_p) {
            const std::ptrdiff_t i = number - 1;
            return i < num_y0 ? target.y0(row, i) : target.y0_tangent(row, i - num_y0);
        }
        const std::ptrdiff_t i = number - first_of_p;
        if (!Spec::shares_parameters)
            return i < num_p ? target.p(row, i) : target.p_tangent(row, i - num_p);
        return i < num_p ? primal(addends[row * num_p + i])
                         : tangent_or_zero(addends[row * num_p + i - num_p]);
    }
};

/// The pieces of a group's arena.
template <class Spec, class Team>
struct GradientPieces {
    GradientMemory<Spec, Team> group;
    RecorderMemory<Spec> recorder;
};

/// `StoresOf` hands out the stores of the placement (checkpoint/sweeps.hpp) to a worker:
/// stores(worker), by value or by reference.
template <class SpecType, class Objective, class Seeds, class StoresOf, bool with_times>
struct GradientKernel {
    using Spec = SpecType;
    using Real = typename Spec::Scalar;
    using Recorder = GradientRecorder<Spec, Objective, Seeds>;
    static constexpr KernelKind kind =
        Seeds::has_loss ? KernelKind::gradient : KernelKind::pullback;
    /// Events move the times of what follows them.
    static constexpr bool differentiates_times = with_times || Spec::has_event;

    Problem<Spec> problem;
    LaneOutcome* outcomes = nullptr;  // (lane)
    Seeds seeds;
    GradientTarget<Real> target;
    SharedRows<Spec> shared;
    GradientPlan plan;
    StoresOf stores;
    BackCost* costs = nullptr;      // (worker)
    GradientMark* marks = nullptr;  // (lane); null: nobody watches
    bool leaves_out_marked = false;
    LaneEvents* events = nullptr;  // (lane) of fields that have them
    RunSums<double> sums{};  // of paths, for who launches where rows stay; else nobody wants them

    [[nodiscard]] GradientNumbers<Spec> numbers() const requires(Seeds::has_loss) {
        return {seeds.loss, seeds.loss_stride, target, shared.addends};
    }
    /// Takes losses and gradients of `count` lanes from `first` on.
    [[nodiscard]] EDDY_HD Recorder recorder(std::ptrdiff_t first, std::int32_t count,
                                            const RecorderMemory<Spec>& memory) const {
        Recorder recorder{problem, first,  count,
                          seeds,   target, shared.of_group(first, first / plan.num_lanes),
                          memory};
        if (leaves_out_marked) recorder.leave_out(marks + first);
        return recorder;
    }
    template <class Team>
    [[nodiscard]] EDDY_HD GradientPieces<Spec, Team> lay_out(Arena& arena, int member) const {
        return {GradientMemory<Spec, Team>(arena, plan, member),
                RecorderMemory<Spec>(arena, plan.num_lanes, problem.times)};
    }
    template <class Team>
    EDDY_HD void operator()(Team& team, Arena arena) const {
        auto pieces = lay_out<Team>(arena, team.member());
        pieces.group.forward.outcomes = outcomes + team.first_lane();
        if (Spec::has_event) pieces.group.forward.events = events + team.first_lane();
        if (marks) pieces.group.marks = marks + team.first_lane();
        Recorder recorder = this->recorder(team.first_lane(), team.num_lanes(), pieces.recorder);
        auto&& stores_of_worker = stores(team.worker());
        using Stores = std::remove_cvref_t<decltype(stores_of_worker)>;
        BackCost of_others;  // members count alike: one of them is enough
        GroupGradient<Spec, Team, Recorder, Stores, differentiates_times>(
            team, problem, pieces.group, recorder, stores_of_worker)
            .run(team.member() == 0 ? costs[team.worker()] : of_others, problem);
        cancel_waiting(team, pieces.group.forward.outcomes, problem);
        if constexpr (requires { team.call(); })
            tell_lost_states(team.call(), recorder, pieces.group.forward.outcomes,
                             team.first_lane(), team.num_lanes());
    }
};

}  // namespace eddy::inline v0::detail
