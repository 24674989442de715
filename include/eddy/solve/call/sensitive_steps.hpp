#pragma once
// Steps that carry derivatives: a solve in dual numbers whose errors are measured in the tangents as
// well, by the same tolerances, so that no mode of the Jacobian lies at zero unseen. One tangent of
// fixed signs suffices: ±1 along every component of y0, ±|p| along every parameter, ±1 where that is
// zero. Only the steps are kept: a gradient then takes them as given (lane/given_steps.hpp).

#include <eddy/core/export.hpp>
#include <eddy/solve/call/kept_steps.hpp>
#include <eddy/solve/call/launch.hpp>
#include <eddy/solve/call/mirrored_kernels.hpp>
#include <eddy/solve/call/workspace.hpp>
#include <eddy/solve/group/group_forward.hpp>
#include <eddy/solve/group/kernel.hpp>
#include <type_traits>
#include <vector>

namespace eddy::inline v0::detail {

/// ±1 along every component of y0, ±|p| along every parameter, ±1 where that is zero. Of float and double, in
/// src/.
template <class Real>
EDDY_EXPORT void set_directions(const EnsembleView<const Real>& y0,
                                const EnsembleView<const Real>& p, EnsembleArray<Real>& of_y0,
                                EnsembleArray<Real>& of_p);

/// Saves nothing.
template <class Spec>
struct NoSaves {
    static constexpr bool saves_nothing = true;
    static constexpr Result not_finite = Result::observed_not_finite;  // never
    [[nodiscard]] EDDY_HD static constexpr bool wants_steps() { return false; }
    EDDY_HD static void save_step(std::int32_t, double, const typename Spec::LaneState&) {}
    [[nodiscard]] EDDY_HD static bool save(std::int32_t, std::int32_t,
                                           const typename Spec::LaneState&) {
        return true;
    }
};

/// The steps of many lanes, in the order in which they were made, and what became of the lanes.
struct EDDY_EXPORT StepsOfLanes {
    struct Step {
        double elapsed, size;
    };
    std::vector<std::vector<Step>> of_lane;
    std::vector<LaneOutcome> outcomes;  // (lane)

    // Those of some lanes, one after another, as GivenSteps refers to them.
    std::vector<std::int64_t> first;
    std::vector<double> elapsed, size;

    void reset(std::ptrdiff_t lanes);
    void keep(std::ptrdiff_t lane, const Step& step);
    [[nodiscard]] GivenSteps give(const std::vector<std::ptrdiff_t>& lanes);
};

/// Puts them into these lists.
struct StepLists {
    StepsOfLanes* steps = nullptr;

    void append(std::ptrdiff_t lane, double elapsed, const Vec<double, 1>& size) const {
        steps->keep(lane, {elapsed, size[0]});
    }
};

/// The kernel that finds them. `Spec` computes in dual numbers. `Steps` takes the elapsed time at which each begins,
/// and its size.
template <class SpecType, class Steps>
struct SensitiveStepsKernel {
    using Spec = SpecType;
    using Recorder = NoSaves<Spec>;

    Problem<Spec> problem;
    LaneOutcome* outcomes = nullptr;  // (lane)
    std::int32_t group_size = 0;
    Steps steps{};

    [[nodiscard]] Recorder recorder(std::ptrdiff_t) const { return {}; }
    /// A lane has accepted a step.
    EDDY_HD_AS_ARGUMENT EDDY_HD void keep(std::ptrdiff_t lane, double elapsed, double size) const {
        steps.append(lane, elapsed, Vec<double, 1>{{size}});
    }
    template <class Team>
    [[nodiscard]] EDDY_HD ForwardMemory lay_out(Arena& arena, int) const {
        return {arena.take<double>(group_size), arena.take<std::int32_t>(group_size), nullptr,
                nullptr, nullptr};
    }
    template <class Team>
    EDDY_HD void operator()(Team& team, Arena arena) const {
        ForwardMemory memory = lay_out<Team>(arena, team.member());
        memory.outcomes = outcomes + team.first_lane();
        if (!team.is_cancelled()) {
            choose_first_sizes(team, problem, memory);
            Recorder recorder;
            GroupForward<Spec, Team, Recorder> forward(team, problem, memory, {}, recorder);
            take_rounds(team, forward);
        }
        cancel_waiting(team, memory.outcomes, problem.times.t0);
    }

  private:
    template <class Team, class Forward>
    EDDY_HD void take_rounds(const Team& team, Forward& forward) const {
        constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
        LoopState<Spec, Team> x = forward.begin({never, never});
        PerChain<typename Spec::Time, Team::num_chains> used(x.count());
        typename Forward::Sight sight;
        forward.look(sight);
        for (std::int64_t round = 0; forward.is_running(sight); ++round) {
            const LoopState<Spec, Team> before = x;
            Occupant occupants[Team::num_chains][Spec::num_places];
            for (int chain = 0; chain < x.count(); ++chain) {
                for (int place = 0; place < Spec::num_places; ++place)
                    occupants[chain][place] = forward.last_occupant(chain, place);
            }
            forward.advance(x, {round, {}, problem}, used, sight);
            for (int chain = 0; chain < x.count(); ++chain) {
                for (int place = 0; place < Spec::num_places; ++place) {
                    const std::int32_t lane = occupants[chain][place].lane;
                    const double size = get_lane(used.chain[chain], place);
                    if (lane == no_lane || size == 0) continue;
                    keep(team.first_lane() + lane, get_lane(before.chain[chain].elapsed, place),
                         size);
                }
            }
        }
    }
};

/// `Spec` computes in dual numbers.
template <class Spec>
class SensitiveSteps {
    using Real = typename Spec::Scalar;

  public:
    StepsOfLanes steps;

    /// Solves lanes of a problem that has been prepared: those of these rows.
    template <class Whole, class Backend>
    void run(const Whole& whole, const GivenRows<Real>& rows, const SolveOptions& options,
             const Backend& backend, typename Backend::Kept& kept, CallLink& call) {
        prepare(whole, rows, options);
        const std::ptrdiff_t lanes = rows.y0.num_lanes;
        steps.reset(lanes);
        const LaunchPlan plan = plan_way_forward<Spec>(backend, lanes, true);
        const auto run_kernel = [&](const auto& to) {
            using Kernel = SensitiveStepsKernel<Spec, std::remove_cvref_t<decltype(to)>>;
            launch(plan,
                   Kernel{prepared_.problem, steps.outcomes.data(),
                          static_cast<std::int32_t>(plan.group_size), to},
                   backend, kept, call);
        };
        const StepLists lists{&steps};
        if constexpr (is_of_host<typename Backend::Memory>) {
            run_kernel(lists);
        } else {
            // First to count, for nobody knows how much room they take beside what the gradient has.
            const auto is_cancelled = [&] { return any_cancelled(steps.outcomes); };
            keep_steps<double, 1>(lanes, 0, run_kernel, is_cancelled,
                                  [&](std::ptrdiff_t lane, double elapsed, const double* size) {
                                      lists.append(lane, elapsed, {{*size}});
                                  });
            if (!is_cancelled()) return;
            for (LaneOutcome& outcome : steps.outcomes) outcome.result = Result::cancelled;
        }
    }

  private:
    template <class Whole>
    void prepare(const Whole& whole, const GivenRows<Real>& rows, const SolveOptions& options) {
        set_directions(rows.y0, rows.p, y0_tangent_, p_tangent_);
        prepared_.follow(whole, {rows.y0, rows.p, std::as_const(y0_tangent_).view(),
                                 std::as_const(p_tangent_).view()});
        tighten(options);
        prepared_.problem.counts_tangents = true;
        prepared_.problem.times.num_saves = 0;
    }

    /// The errors of steps add up along an oscillation that the state did not have, and of a method of
    /// low order there are many steps to a turn.
    void tighten(const SolveOptions& options) {
        constexpr double scale = Spec::Stepper::order < 4 ? 0.1 : 1;
        prepared_.problem.rtol = static_cast<Real>(scale * options.rtol);
        for (int i = 0; i < Spec::state_size; ++i)
            prepared_.problem.atol[i] = static_cast<Real>(scale * options.atol[i]);
    }

    PreparedProblem<Spec> prepared_;
    EnsembleArray<Real> y0_tangent_, p_tangent_;
};

template <class Spec, class Memory>
[[nodiscard]] auto mirrored(SensitiveStepsKernel<Spec, StepArrays<double>> kernel,
                            const LaunchPlan&, Mirrors<Memory>& mirrors) {
    kernel.steps = mirrored(kernel.steps, 1, mirrors);
    kernel.problem = mirrored(kernel.problem, mirrors);
    kernel.outcomes = mirrors.out_of_lanes(kernel.outcomes);
    return kernel;
}

}  // namespace eddy::inline v0::detail
