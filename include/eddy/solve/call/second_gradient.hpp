#pragma once
// The second pass of gradients by an AutoSwitch: forward and back by the second method alone.

#include <eddy/solve/call/backend.hpp>
#include <eddy/solve/call/gradient_rows.hpp>
#include <eddy/solve/call/second_pass.hpp>
#include <type_traits>

namespace eddy::inline v0::detail {

template <class Spec, class Objective, class Seeds, bool with_times>
struct GradientWorkspace;

/// Loss and gradients of the lanes that the first pass of a GradientWorkspace has sent on, put into its
/// result. `SecondWorkspace` is that of a gradient by the second method. What they bring to a shared
/// gradient is summed over them in the order of the lanes, and added to the sum over the others.
template <class FirstWorkspace, class SecondWorkspace, class Spec>
class SecondGradient {
  public:
    template <class Backend>
    void run(FirstWorkspace& first, const SolveOptions& options, const Backend& backend,
             typename Backend::Kept& kept, CallLink& call, const char* title) {
        if constexpr (may_return_early<Backend>) {
            if (first.result.report.success()) return;
            first.take_over(backend, kept);
        }
        const auto memory = memory_for(backend, kept);
        if (!pass_.begin(first.result.report, first.prepared.problem, second_.prepared, options,
                         memory, title))
            return;
        pass_.given.gather_data(first.arrays, pass_.lanes, second_.arrays, memory);
        second_.seeds.refer_to(second_.arrays.data());
        if constexpr (FirstWorkspace::has_loss) second_.open_loss();
        second_.are_some_of_many = true;
        second_.run_unsummed(options, backend, kept, call, title);
        second_.finish_sums({}, title);
        second_.result.report.settle();
        bring(first, memory);
    }

  private:
    template <class Memory>
    void bring(FirstWorkspace& first, const Memory& memory) const {
        const LaneList &lanes = pass_.lanes, &rows = pass_.rows;
        GradientReport& report = first.result.report;
        const GradientReport& of_second = second_.result.report;
        pass_.put_outcomes(report, of_second);
        put_target_into(memory, first.target, lanes, second_.target, rows, Spec::shares_parameters);
        if constexpr (FirstWorkspace::has_loss) first.put_losses(memory, lanes, second_.loss, rows);
        if constexpr (Spec::shares_parameters) first.shared_sums.add_apart(second_.target);
        add_cost(report, of_second);
    }

    SecondPass<Spec> pass_;
    SecondWorkspace second_;
};

/// That of a workspace, if its method has one.
template <class FirstWorkspace, class Spec, class Objective, class Seeds, bool with_times>
using SecondOfGradient = std::conditional_t<
    switches<Spec>,
    SecondGradient<FirstWorkspace,
                   GradientWorkspace<SecondSpecOf<Spec>, Objective,
                                     typename Seeds::template Of<SecondSpecOf<Spec>>, with_times>,
                   Spec>,
    NoSecondPass>;

}  // namespace eddy::inline v0::detail
