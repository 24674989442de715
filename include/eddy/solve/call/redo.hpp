#pragma once
// The lanes of a gradient whose steps do not carry their derivatives, once more: steps that do are
// found in dual numbers (sensitive_steps.hpp), and loss and gradient are taken along those. A shared
// gradient has left marked lanes out; what they bring now is added to it. One of more than 64
// parameters, in whose sum lanes cannot be told apart, is summed once more over the others. A lane
// whose second solve fails keeps what it had, and its mark.

#include <eddy/solve/call/gradient_rows.hpp>
#include <eddy/solve/call/sensitive_steps.hpp>
#include <limits>
#include <type_traits>
#include <vector>

namespace eddy::inline v0::detail {

/// Those whose steps do not carry their derivatives.
[[nodiscard]] EDDY_EXPORT LaneList marked_lanes(const GradientReport& report);

/// The method whose steps another one takes: see WithEmbeddedError.
template <class Method>
struct PlainMethod {
    using type = Method;
};
template <class Method>
requires requires { typename Method::Plain; }
struct PlainMethod<Method> {
    using type = typename Method::Plain;
};
template <class Method>
using PlainMethodOf = typename PlainMethod<Method>::type;

/// Solves the marked lanes of a GradientWorkspace once more.
template <class GradientWorkspace, class Spec>
class Redo {
    using Real = typename Spec::Scalar;
    using Number = typename Spec::Number;
    using DualNumber = std::conditional_t<Spec::is_dual, Number, Dual<Number>>;
    using DualSpec = SolveSpec<typename Spec::Field, PlainMethodOf<typename Spec::Method>,
                               typename Spec::Controller, DualNumber, Spec::shares_parameters,
                               typename Spec::Time>;
    using Lanes = LaneList;

  public:
    template <class Backend>
    void run(GradientWorkspace& first, const Lanes& marked, const SolveOptions& options,
             const Backend& backend, typename Backend::Kept& kept, CallLink& call,
             const char* title) {
        const auto memory = memory_for(backend, kept);
        rows_.gather(first.prepared.problem, marked, memory);
        steps_.run(first.prepared, rows_.views(), options, backend, kept, call);
        Lanes solved, lanes;  // of the marked ones; of the call
        for (std::size_t k = 0; k < marked.size(); ++k) {
            if (is_failure(steps_.outcomes[k].result)) continue;
            solved.push_back(static_cast<std::ptrdiff_t>(k));
            lanes.push_back(marked[k]);
        }
        if (!lanes.empty()) {
            prepare(first, lanes, memory);
            // Whatever the errors of given steps are, they are accepted.
            second_.prepared.problem.given = steps_.steps.give(solved);
            for (int i = 0; i < Spec::state_size; ++i)
                second_.prepared.problem.atol[i] = std::numeric_limits<Real>::max() / 16;
            second_.run_kernel(options, backend, kept, call, false);
            second_.result.report.settle();
            bring(first, lanes, solved, memory);
        }
        if constexpr (Spec::shares_parameters) {
            const Lanes left = left_lanes(first, marked);
            if (left.empty()) return;
            prepare(first, left, memory);
            second_.run_kernel(options, backend, kept, call, false);
            second_.finish_sums({}, title);
            first.shared_sums.add_apart(second_.target);
            second_.result.report.settle();
        }
    }

  private:
    /// The lanes that were not solved once more and have brought nothing to a shared gradient: of the
    /// marked ones; or, of a sum in which lanes cannot be told apart, all, and the sum begins anew.
    static Lanes left_lanes(GradientWorkspace& first, const Lanes& marked) {
        const GradientReport& report = first.result.report;
        Lanes left;
        if constexpr (Spec::sums_by_lane) {
            for (const std::ptrdiff_t lane : marked) {
                if (!report.redone(lane)) left.push_back(lane);
            }
        } else {
            if (!first.shared_sums.has_apart()) return left;  // none was: the sum holds all of them
            first.shared_sums.forget_groups();
            for (std::ptrdiff_t lane = 0; lane < report.num_lanes(); ++lane) {
                if (!report.redone(lane) && !is_failure(report.result(lane))) left.push_back(lane);
            }
        }
        return left;
    }

    template <class Memory>
    void prepare(const GradientWorkspace& first, const Lanes& lanes, const Memory& memory) {
        rows_.gather(first.prepared.problem, lanes, memory);
        second_.prepared.follow(first.prepared, rows_.views());
        rows_.gather_data(first.arrays, lanes, second_.arrays, memory);
        second_.seeds = first.seeds;
        second_.seeds.data = second_.arrays.data();
        second_.are_some_of_many = true;
        second_.open_loss();
    }

    /// Steps at the bound of stability are what a stiff mode in the norm leads to; steps far beyond it
    /// did not see the mode after all.
    static GradientMark mark_of_given(const GradientMark& mark) {
        constexpr double bound = 4 * Spec::Stepper::Watch::threshold;
        return static_cast<double>(mark.ratio) > bound ? mark : GradientMark{};
    }

    template <class Memory>
    void bring(GradientWorkspace& first, const Lanes& lanes, const Lanes& solved,
               const Memory& memory) {
        LaneList brought, rows;
        GradientReport& report = first.result.report;
        for (std::size_t k = 0; k < lanes.size(); ++k) {
            LaneOutcome outcome = second_.result.report.lanes()[k];
            if (is_failure(outcome.result)) continue;
            const LaneOutcome& of_steps = steps_.outcomes[static_cast<std::size_t>(solved[k])];
            outcome.accepted = of_steps.accepted;
            outcome.rejected = of_steps.rejected;
            outcome.evaluations += of_steps.evaluations;
            const auto lane = static_cast<std::size_t>(lanes[k]);
            report.lanes()[lane] = outcome;
            report.marks[lane] = mark_of_given(second_.result.report.marks[k]);
            report.was_redone[lane] = 1;
            brought.push_back(lanes[k]);
            rows.push_back(static_cast<std::ptrdiff_t>(k));
        }
        put_target_into(memory, first.target, brought, second_.target, rows,
                        Spec::shares_parameters);
        first.put_losses(memory, brought, second_.loss, rows);
        if constexpr (Spec::shares_parameters) {
            second_.finish_sums({}, "value_and_gradient");
            first.shared_sums.add_apart(second_.target);
        }
        add_cost(report, second_.result.report);
    }
    GradientWorkspace second_;
    SensitiveSteps<DualSpec> steps_;
    LaneRows<Spec> rows_;
};

}  // namespace eddy::inline v0::detail
