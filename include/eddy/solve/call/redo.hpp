#pragma once
// The lanes of a gradient whose steps do not carry their derivatives, once more: steps that do are
// found in dual numbers (sensitive_steps.hpp), and loss and gradient are taken along those. A shared
// gradient has left marked lanes out; what they bring now is added to it. One of more than 64
// parameters, in whose sum lanes cannot be told apart, is summed once more over the others. A lane
// whose second solve fails keeps what it had, and its mark.
// Test: tests/solve/stable_gradients.cpp

#include <eddy/solve/call/gradient_results.hpp>
#include <eddy/solve/call/put_rows.hpp>
#include <eddy/solve/call/sensitive_steps.hpp>
#include <eddy/solve/lane/prescribed_steps.hpp>
#include <span>
#include <type_traits>

namespace eddy::inline v0::detail {

/// The lanes whose steps do not carry their derivatives; if there are any, the report gets room for which of them are
/// solved once more.
[[nodiscard]] EDDY_EXPORT RowList marked_lanes(GradientReport& report);

/// The marked lanes that have been solved once more: their numbers among the marked ones, and in the call.
struct SolvedLanes {
    RowList of_marked, lanes;
};
[[nodiscard]] EDDY_EXPORT SolvedLanes solved_lanes(const RowList& marked,
                                                   std::span<const LaneOutcome> outcomes);

/// What became of solved lanes, along steps whose outcomes those of the marked ones are, into the report of all.
/// Steps at the bound of stability are what a stiff mode in the norm leads to; where the ratio is above
/// `most_ratio` they did not see the mode after all, and the lane keeps a mark.
[[nodiscard]] EDDY_EXPORT BroughtRows bring_outcomes(GradientReport& report,
                                                     const GradientReport& second,
                                                     const SolvedLanes& solved,
                                                     std::span<const LaneOutcome> of_steps,
                                                     double most_ratio);
/// The lanes that were not solved once more and have brought nothing to a shared gradient: of the marked ones;
/// or of all, where lanes cannot be told apart in its sum.
[[nodiscard]] EDDY_EXPORT RowList left_of_marked(const GradientReport& report,
                                                 const RowList& marked);
[[nodiscard]] EDDY_EXPORT RowList left_of_all(const GradientReport& report);

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

  public:
    template <class Backend>
    void run(GradientWorkspace& first, const RowList& marked, const SolveOptions& options,
             const Backend& backend, typename Backend::Kept& kept, CallLink& call,
             const char* title) {
        steps_.run(first.prepared, marked, options, backend, kept, call);
        const SolvedLanes solved = solved_lanes(marked, steps_.steps.outcomes);
        if (!solved.lanes.empty()) {
            prepare(first, solved.lanes);
            second_.prepared.problem.prescribed = steps_.steps.prescribe(solved.of_marked);
            for (int i = 0; i < Spec::state_size; ++i)
                second_.prepared.problem.atol[i] = any_atol<Real>;
            second_.run_kernel(options, backend, kept, call, false);
            second_.result.report.wait();
            const BroughtRows brought =
                bring_outcomes(first.result.report, second_.result.report, solved,
                               steps_.steps.outcomes, 4 * Spec::Stepper::Watch::threshold);
            first.take_lanes_of(second_, brought, memory_for(backend, kept), title);
        }
        if (Spec::shares_parameters) {
            const RowList left = left_lanes(first, marked);
            if (left.empty()) return;
            prepare(first, left);
            second_.run_kernel(options, backend, kept, call, false);
            second_.finish_sums({}, title);
            first.shared_sums.add_apart(second_.target);
            second_.result.report.wait();
        }
    }

  private:
    static RowList left_lanes(GradientWorkspace& first, const RowList& marked) {
        if (Spec::sums_by_lane) return left_of_marked(first.result.report, marked);
        if (!first.shared_sums.has_apart()) return {};  // none was: the sum holds all of them
        first.shared_sums.forget_groups();              // and begins anew
        return left_of_all(first.result.report);
    }

    void prepare(const GradientWorkspace& first, const RowList& lanes) {
        second_.prepared.take_rows_of(first.prepared, lanes);
        second_.seeds = first.seeds;
        second_.open_loss();
    }

    GradientWorkspace second_;
    SensitiveSteps<DualSpec> steps_;
};

}  // namespace eddy::inline v0::detail
