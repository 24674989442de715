#pragma once
// The state in which a lane begins: that which was given, made consistent where the equation has
// algebraic components.

#include <eddy/solve/lane/outcome.hpp>
#include <eddy/solve/lane/parameters.hpp>
#include <eddy/steppers/consistent_start.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// Are there components that the equation itself determines at the start?
template <class Field>
consteval bool has_algebraic_components() {
    if constexpr (has_mass<Field>)
        return MassMatrix<Field>::num_constraints > 0;
    else
        return false;
}

template <class Spec>
struct LaneStart {
    using Field = typename Spec::Field;
    using Lane = typename Spec::Lane;
    using State = typename Spec::LaneState;
    static constexpr bool is_solved_for = has_algebraic_components<Field>();

    /// Not a number in all components where the algebraic ones cannot be found.
    [[nodiscard]] EDDY_HD static State state(const Problem<Spec>& problem, std::ptrdiff_t lane) {
        if constexpr (is_solved_for) {
            State y;
            const typename Spec::Scalar nan =
                std::numeric_limits<typename Spec::Scalar>::quiet_NaN();
            if (solve(problem, lane, y).result != Result::success) {
                for (int i = 0; i < Spec::state_size; ++i) y[i] = Lane(nan);
            }
            return y;
        } else {
            return problem.load_y0(lane);
        }
    }
    /// Is there more to be told of a lane that began than of its steps?
    [[nodiscard]] static constexpr bool reports_steps() {
        if constexpr (is_solved_for)
            return StartOf<Field>::reports_steps;
        else
            return false;
    }
    /// What the start has cost, and at whose fault it may have failed.
    [[nodiscard]] EDDY_HD static LaneOutcome outcome(const Problem<Spec>& problem,
                                                     std::ptrdiff_t lane) {
        State y;
        const StartReport report = solve(problem, lane, y);
        return {.accepted = report.accepted,
                .rejected = report.rejected,
                .evaluations = report.evaluations,
                .t = problem.times.t0,
                .component = report.component,
                .result = report.result};
    }
    /// From the cotangent of that state to that of the one given; adds those of p, and returns that of
    /// t0 where it is asked for.
    template <bool with_times, class ParameterCotangent>
    [[nodiscard, gnu::noinline]] EDDY_HD static Lane pull(const Problem<Spec>& problem,
                                                          std::ptrdiff_t lane, State& cotangent,
                                                          ParameterCotangent&& p_cotangent) {
        return StartOf<Field>::template pull<with_times>(time_of(problem), state(problem, lane),
                                                         LaneParameters<Spec>{&problem, lane},
                                                         cotangent, p_cotangent);
    }
    /// dy/dt there.
    [[nodiscard]] EDDY_HD static State slope(const Problem<Spec>& problem, std::ptrdiff_t lane) {
        const State y = state(problem, lane);
        const LaneParameters<Spec> p{&problem, lane};
        if constexpr (is_solved_for)
            return StartOf<Field>::slope(time_of(problem), y, p);
        else if constexpr (has_mass<Field>)
            return MassMatrix<Field>::slope(Spec::Term::derivative(time_of(problem), y, p));
        else
            return Spec::Term::derivative(time_of(problem), y, p);
    }

  private:
    [[nodiscard]] EDDY_HD static double time_of(const Problem<Spec>& problem) {
        return problem.times.tstops[0].confine(problem.times.t0);
    }
    [[nodiscard, gnu::noinline]] EDDY_HD static StartReport solve(const Problem<Spec>& problem,
                                                                  std::ptrdiff_t lane, State& y) {
        y = problem.load_y0(lane);
        const StartTask<typename Spec::Scalar, Spec::state_size> task{problem.rtol, problem.atol,
                                                                      problem.times.max_steps};
        return StartOf<Field>::solve(time_of(problem), y, LaneParameters<Spec>{&problem, lane},
                                     task);
    }
};

}  // namespace eddy::inline v0::detail
