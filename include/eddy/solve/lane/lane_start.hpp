#pragma once
// The state in which a lane begins: that which was given, made consistent where the equation has
// algebraic components.
// Test: tests/solve/dae.cpp, tests/solve/steady_state.cpp

#include <eddy/solve/lane/meet_impulses.hpp>
#include <eddy/solve/lane/outcome.hpp>
#include <eddy/solve/lane/parameters.hpp>
#include <eddy/steppers/consistent_start.hpp>
#include <limits>

namespace eddy::inline v0::detail {

template <class Spec>
struct LaneStart {
    using Field = typename Spec::Field;
    using Lane = typename Spec::Lane;
    using State = typename Spec::LaneState;
    static constexpr bool is_solved_for = has_algebraic_components<Field>();

    /// The state in which a lane begins; NaN in all components where the algebraic ones cannot be
    /// found.
    [[nodiscard]] EDDY_HD static State state(const Problem<Spec>& problem, LaunchLane lane) {
        if constexpr (keeps_starts<Field>)
            return problem.starts[to_index(lane)];
        else
            return found(problem, lane);
    }
    /// The state in which a lane begins, found anew.
    [[nodiscard]] EDDY_HD static State found(const Problem<Spec>& problem, LaunchLane lane) {
        if constexpr (is_solved_for) {
            State y;
            if (solve(problem, lane, y).result != Result::success) {
                for (int i = 0; i < Spec::state_size; ++i) y[i] = not_a_number();
            }
            return y;
        } else {
            return problem.times.num_impulses > 0 ? behind_impulses(problem, lane)
                                                  : problem.load_y0(lane);
        }
    }
    /// What the impulses at t0 make of the state that was given: see MeetImpulses.
    template <class Keep>
    EDDY_HD static void meet_impulses(const Problem<Spec>& problem, LaunchLane lane, State& y,
                                      const Keep& keep) {
        const LaneTimes times = problem.times_of(lane);
        MeetImpulses<Spec>::apply(times, times.impulses_at_start(), y, keep);
    }
    /// Finds the states in which so many lanes begin, for `state`, where it would solve for them.
    EDDY_HD static void find(const Problem<Spec>& problem, std::ptrdiff_t first, int count) {
        if constexpr (keeps_starts<Field>) {
            for (std::ptrdiff_t lane = first; lane < first + count; ++lane)
                problem.starts[lane] = found(problem, LaunchLane{lane});
        }
    }
    /// Is there more to be told of a lane that began than of its steps?
    [[nodiscard]] static constexpr bool reports_steps() { return ReportsStart<Field>; }
    /// What the start has cost, and at whose fault it may have failed.
    [[nodiscard]] EDDY_HD static LaneOutcome outcome(const Problem<Spec>& problem,
                                                     LaunchLane lane) {
        State y;
        return outcome_of(problem.times_of(lane).t0, solve(problem, lane, y));
    }

    /// Are the starts of all lanes that begin together found together?
    [[nodiscard]] static constexpr bool begins_together() { return reports_steps(); }
    /// Finds those of the lanes in the places that are `wanted`, and what became of them. `y` has the
    /// states that were given, `p` what the places have for parameters. Where none is found y is not a
    /// number.
    template <class Parameters>
    [[gnu::noinline]] EDDY_HD static void begin(const Problem<Spec>& problem, const Parameters& p,
                                                const MaskOf<typename Spec::Primal>& wanted,
                                                typename Spec::State& y,
                                                LaneOutcome (&outcomes)[Spec::num_places]) {
        StartReport reports[Spec::num_places];
        StartOf<Field>::solve_places(problem.times.of_all().tstops[0].confine(problem.times.t0), y,
                                     p, task_of(problem), wanted, reports);
        for (int place = 0; place < Spec::num_places; ++place) {
            outcomes[place] = outcome_of(problem.times.t0, reports[place]);
            if (!get_lane(wanted, place) || reports[place].result == Result::success) continue;
            for (int i = 0; i < Spec::state_size; ++i) set_lane(y[i], place, not_a_number());
        }
    }

    /// Turns the cotangent of the state y in which a lane began into that of the one given; adds those of p,
    /// and returns that of t0 where it is asked for.
    template <bool with_times, class ParameterCotangent>
    [[nodiscard, gnu::noinline]] EDDY_HD static Lane pull(const Problem<Spec>& problem,
                                                          LaunchLane lane, const State& y,
                                                          State& cotangent,
                                                          ParameterCotangent&& p_cotangent) {
        return StartOf<Field>::template pull<with_times>(time_of(problem, lane), y,
                                                         LaneParameters<Spec>{&problem, lane},
                                                         cotangent, p_cotangent);
    }
    /// The derivative dy/dt at the start.
    [[nodiscard]] EDDY_HD static State slope(const Problem<Spec>& problem, LaunchLane lane) {
        return slope(problem, lane, state(problem, lane), time_of(problem, lane));
    }
    /// The same in another state, at another time, where steps head for a tstop.
    [[nodiscard]] EDDY_HD static State slope(const Problem<Spec>& problem, LaunchLane lane,
                                             const State& y, double t, std::int32_t tstop = 0) {
        const LaneParameters<Spec> p{&problem, lane, tstop};
        if constexpr (is_solved_for)
            return StartOf<Field>::slope(t, y, p);
        else
            return MassMatrix<Field>::slope(Spec::Term::derivative(t, y, p));
    }
    /// The time at which f is asked where a lane begins.
    [[nodiscard]] EDDY_HD static double time_of(const Problem<Spec>& problem, LaunchLane lane) {
        const LaneTimes times = problem.times_of(lane);
        return times.tstops[0].confine(times.t0);
    }

  private:
    /// Out of line: it would take registers from kernels, most of which have none to meet.
    [[nodiscard, gnu::noinline]] EDDY_HD static State behind_impulses(const Problem<Spec>& problem,
                                                                      LaunchLane lane) {
        State y = problem.load_y0(lane);
        meet_impulses(problem, lane, y, [](std::int32_t, const Lane&) {});
        return y;
    }
    [[nodiscard, gnu::noinline]] EDDY_HD static StartReport solve(const Problem<Spec>& problem,
                                                                  LaunchLane lane, State& y) {
        y = problem.load_y0(lane);
        return StartOf<Field>::solve(time_of(problem, lane), y,
                                     LaneParameters<Spec>{&problem, lane}, task_of(problem));
    }
    [[nodiscard]] EDDY_HD static StartTask<typename Spec::Scalar, Spec::state_size> task_of(
        const Problem<Spec>& problem) {
        return {problem.rtol, problem.atol, problem.times.max_steps};
    }
    [[nodiscard]] EDDY_HD static Lane not_a_number() {
        return Lane(std::numeric_limits<typename Spec::Scalar>::quiet_NaN());
    }
    [[nodiscard]] EDDY_HD static LaneOutcome outcome_of(double t0, const StartReport& report) {
        return {.accepted = report.accepted,
                .rejected = report.rejected,
                .evaluations = report.evaluations,
                .t = t0,
                .component = report.component,
                .result = report.result,
                .method = static_cast<std::uint8_t>(
                    report.is_integrated && report.result == Result::success ? 1 : 0)};
    }
};

}  // namespace eddy::inline v0::detail
