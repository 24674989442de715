#pragma once
// The second pass of a call by an AutoSwitch: its second method solves from t0 the lanes that the first has sent on
// (ask/auto_switch.hpp), given rows of the same arrays; what they leave takes the place of what the first has left.
// Test: tests/solve/auto_switch_calls.cpp, tests/solve/auto_switch_gradients.cpp

#include <eddy/solve/ask/auto_switch.hpp>
#include <eddy/solve/call/gradient_results.hpp>
#include <eddy/solve/call/kept_object.hpp>
#include <eddy/solve/call/launch.hpp>
#include <eddy/solve/call/put_rows.hpp>
#include <eddy/solve/call/solution.hpp>
#include <eddy/solve/call/workspace.hpp>
#include <eddy/solve/lane/solve_spec.hpp>
#include <type_traits>
#include <utility>

namespace eddy::inline v0::detail {

template <class Spec>
struct SecondSpec {
    using type = Spec;
};
template <class Spec>
requires switches<Spec>
struct SecondSpec<Spec> {
    using Controller =
        decltype(controller_of_second(std::declval<const typename Spec::Controller&>()));
    using type = SolveSpec<typename Spec::Field, typename Spec::Method::Second, Controller,
                           typename Spec::Number, Spec::shares_parameters, typename Spec::Time>;
};
/// The types of the second pass: those of a call of the second method alone.
template <class Spec>
using SecondSpecOf = typename SecondSpec<Spec>::type;

/// The lanes of a call that the first pass has sent on; they are lanes 0, 1, … of the second.
struct EDDY_EXPORT SentLanes : BroughtRows {
    /// Finds them in what became of all lanes. Are there any?
    [[nodiscard]] bool find(const Outcomes& outcomes);
    /// What became of them, into the outcomes of all.
    void put_outcomes(Outcomes& outcomes, const Outcomes& second) const;
};

/// Sets the problem of the second pass: that of these rows.
template <class Spec, class Memory>
void prepare_second(PreparedProblem<SecondSpecOf<Spec>>& second, const Problem<Spec>& first,
                    const RowList& rows, const SolveOptions& options, const Memory& memory,
                    const char* where) {
    second.take_method(first.method.second, where);
    second.follow_by(first, rows, options, controller_of_second(first.controller), where, memory);
}

/// The second pass of solve and pushforward. `SecondWorkspace` is that of a solve by the second
/// method.
template <class FirstWorkspace, class SecondWorkspace, class Spec>
class SecondSolve {
  public:
    template <class Backend>
    void run(FirstWorkspace& first, const SolveOptions& options, const Backend& backend,
             typename Backend::Kept& kept, CallLink& call, const char* title) {
        if (first.solution.success()) return;
        first.solution.wait();
        if (!sent_.find(first.solution)) return;
        const auto memory = memory_for(backend, kept);
        const Problem<Spec>& problem = first.prepared.problem;
        prepare_second<Spec>(second_.prepared, problem, sent_.rows, options, memory, title);
        second_.prepared.problem.counts_tangents = problem.counts_tangents;
        second_.take({}, backend.memory(), title);
        second_.run_pass(options, backend, kept, call);
        second_.solution.wait();
        sent_.put_outcomes(first.solution, second_.solution);
        for (std::size_t k = 0; k < first.y.size(); ++k)
            put_rows_into(memory, first.y[k], sent_, second_.y[k]);
        for (std::size_t k = 0; k < first.tangent.size(); ++k)
            put_rows_into(memory, first.tangent[k], sent_, second_.tangent[k]);
        for (std::size_t k = 0; k < sent_.rows.size(); ++k)
            first.solution.take_steps(sent_.rows[k], second_.solution, sent_.lanes[k]);
    }

  private:
    SentLanes sent_;
    SecondWorkspace second_;
};

/// The second pass of a gradient: forward and back by the second method only. `SecondWorkspace` is that of such a gradient.
/// What lanes bring to a shared gradient is summed over them in their order, and added to the sum over the others.
template <class FirstWorkspace, class SecondWorkspace, class Spec>
class SecondGradient {
  public:
    template <class Backend>
    void run(FirstWorkspace& first, const SolveOptions& options, const Backend& backend,
             typename Backend::Kept& kept, CallLink& call, const char* title) {
        GradientReport& report = first.result.report;
        if (report.success()) return;
        first.take_over(LeftThere<Backend>{backend, kept});
        if (!sent_.find(report)) return;
        const auto memory = memory_for(backend, kept);
        prepare_second<Spec>(second_.prepared, first.prepared.problem, sent_.rows, options, memory,
                             title);
        second_.seeds.refer_to(first.arrays.data());
        if (FirstWorkspace::has_loss) second_.open_loss();
        second_.run_unsummed(options, backend, kept, call, title);
        second_.result.report.wait();
        sent_.put_outcomes(report, second_.result.report);
        first.take_lanes_of(second_, sent_, memory, title);
    }

  private:
    SentLanes sent_;
    SecondWorkspace second_;
};

template <class Spec, class Objective, class Seeds, bool with_times>
struct GradientWorkspace;
/// The second pass of a gradient workspace, if its method has one.
template <class FirstWorkspace, class Spec, class Objective, class Seeds, bool with_times>
using SecondOfGradient = std::conditional_t<
    switches<Spec>,
    SecondGradient<FirstWorkspace,
                   GradientWorkspace<SecondSpecOf<Spec>, Objective,
                                     typename Seeds::template Of<SecondSpecOf<Spec>>, with_times>,
                   Spec>,
    NoPass>;

}  // namespace eddy::inline v0::detail
