#pragma once
// The second pass of solve and pushforward by an AutoSwitch.

#include <eddy/solve/call/backend.hpp>
#include <eddy/solve/call/second_pass.hpp>

namespace eddy::inline v0::detail {

/// Solves the lanes that the first pass of a SolveWorkspace has sent on, and puts what they save into
/// its solution. `SecondWorkspace` is that of a solve by the second method.
template <class FirstWorkspace, class SecondWorkspace, class Spec>
class SecondSolve {
  public:
    template <class Backend>
    void run(FirstWorkspace& first, const SolveOptions& options, const Backend& backend,
             typename Backend::Kept& kept, CallLink& call, const char* title) {
        if constexpr (may_return_early<Backend>) {
            if (first.solution.success()) return;
            first.solution.settle();
        }
        const auto memory = memory_for(backend, kept);
        const Problem<Spec>& problem = first.prepared.problem;
        if (!pass_.begin(first.solution, problem, second_.prepared, options, memory, title)) return;
        second_.prepared.problem.counts_tangents = problem.counts_tangents;
        second_.take({}, backend.memory(), title);
        second_.are_some_of_many = true;
        second_.run_pass(options, backend, kept, call);
        second_.solution.settle();
        bring(first, second_.solution, memory);
    }

  private:
    template <class Solution, class Memory>
    void bring(FirstWorkspace& first, Solution& second, const Memory& memory) const {
        const LaneList &lanes = pass_.lanes, &rows = pass_.rows;
        pass_.put_outcomes(first.solution, second);
        for (std::size_t k = 0; k < first.y.size(); ++k)
            put_rows_into(memory, first.y[k], lanes, second_.y[k], rows);
        for (std::size_t k = 0; k < first.tangent.size(); ++k)
            put_rows_into(memory, first.tangent[k], lanes, second_.tangent[k], rows);
        for (std::size_t k = 0; k < lanes.size(); ++k)
            first.solution.take_steps(lanes[k], second, rows[k]);
    }

    SecondPass<Spec> pass_;
    SecondWorkspace second_;
};

}  // namespace eddy::inline v0::detail
