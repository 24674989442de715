#pragma once
// Steps that carry derivatives: a solve in dual numbers whose errors are measured in the tangents as
// well, by the same tolerances, so that no mode of the Jacobian lies at zero unseen. One tangent of
// fixed signs suffices (lane/problem.hpp). Only the steps are kept: a gradient is then told to take them (lane/prescribed_steps.hpp).
// Test: tests/solve/stable_gradients.cpp

#include <eddy/core/export.hpp>
#include <eddy/solve/call/kept_steps.hpp>
#include <eddy/solve/call/launch.hpp>
#include <eddy/solve/call/workspace.hpp>
#include <eddy/solve/group/solve_kernel.hpp>
#include <type_traits>
#include <vector>

namespace eddy::inline v0::detail {

/// The observable of a solve without save points.
struct NoObservable {
    static constexpr int num_outputs = 0;
};

/// The steps of many lanes, in the order in which they were made, and what became of the lanes.
struct EDDY_EXPORT StepsOfLanes {
    struct Step {
        double elapsed, size;
    };
    std::vector<std::vector<Step>> of_lane;
    std::vector<LaneOutcome> outcomes;  // (lane)

    // The steps of some lanes, one after another, as PrescribedSteps refers to them.
    std::vector<std::int64_t> first;
    std::vector<double> elapsed, size;

    StepsOfLanes();
    StepsOfLanes(const StepsOfLanes&) = delete;
    StepsOfLanes& operator=(const StepsOfLanes&) = delete;
    ~StepsOfLanes();
    void reset(std::ptrdiff_t lanes);
    void keep(std::ptrdiff_t lane, const Step& step);
    [[nodiscard]] PrescribedSteps prescribe(const std::vector<std::ptrdiff_t>& lanes);
};

/// Puts the steps of a solve into these lists.
struct StepLists {
    StepsOfLanes* steps = nullptr;

    [[nodiscard]] static constexpr bool is_wanted() { return true; }
    template <class State>
    void append(std::ptrdiff_t lane, const TakenStep& step, const State&) const {
        if (step.size != 0) steps->keep(lane, {step.elapsed, step.size});
    }
};

/// `Spec` computes in dual numbers.
template <class Spec>
class SensitiveSteps {
    using Real = typename Spec::Scalar;

  public:
    StepsOfLanes steps;

    /// Solves these lanes of a problem that has been prepared.
    template <class Whole, class Backend>
    void run(const Whole& whole, const RowList& of_whole, const SolveOptions& options,
             const Backend& backend, typename Backend::Kept& kept, CallLink& call) {
        prepared_.follow_along(whole, of_whole, memory_for(backend, kept));
        const std::ptrdiff_t lanes = prepared_.num_lanes();
        tighten(options);
        prepared_.problem.counts_tangents = true;
        prepared_.problem.times.num_saves = 0;
        steps.reset(lanes);
        const LaunchPlan plan = plan_way_forward<Spec>(backend, lanes);
        const auto run_kernel = [&](const auto& to) {
            using Kernel = SolveKernel<Spec, NoObservable, std::remove_cvref_t<decltype(to)>>;
            launch(plan,
                   Kernel{prepared_.problem,
                          steps.outcomes.data(),
                          {},
                          static_cast<std::int32_t>(plan.group_size),
                          to},
                   backend, kept, call);
            LeftThere<Backend>{backend, kept}.unfinished().need();  // what became of lanes
        };
        if constexpr (!is_of_device<Backend>) {
            run_kernel(StepLists{&steps});
        } else {
            // First to count, for nobody knows how much room they take beside what the gradient has.
            const auto is_cancelled = [&] { return any_cancelled(steps.outcomes); };
            keep_steps<StepArrays<double, true>, 1>(
                lanes, 0, run_kernel, is_cancelled,
                [&](std::ptrdiff_t lane, double elapsed, const double* size) {
                    steps.keep(lane, {elapsed, *size});
                });
            if (!is_cancelled()) return;
            for (LaneOutcome& outcome : steps.outcomes) outcome.result = Result::cancelled;
        }
    }

  private:
    /// The errors of steps add up along an oscillation that the state did not have, and of a method of
    /// low order there are many steps to a turn.
    void tighten(const SolveOptions& options) {
        constexpr double scale = Spec::Stepper::order < 4 ? 0.1 : 1;
        prepared_.problem.rtol = static_cast<Real>(scale * options.rtol);
        for (int i = 0; i < Spec::state_size; ++i)
            prepared_.problem.atol[i] = static_cast<Real>(scale * options.atol[i]);
    }

    PreparedProblem<Spec> prepared_;
};

}  // namespace eddy::inline v0::detail
