#pragma once
// How a lane ends: at what time, by whose fault, and what it has cost.
// Test: tests/solve/failures.cpp, tests/solve/save_points.cpp

#include <eddy/solve/lane/chain.hpp>
#include <eddy/solve/lane/lane_start.hpp>
#include <eddy/solve/lane/loop_limit.hpp>
#include <eddy/solve/lane/outcome.hpp>

namespace eddy::inline v0::detail {

/// What ends at a save point, for each place: a lane whose state there is not finite, or whose
/// recorder makes of it what is not.
template <int num_places>
struct BrokenSaves {
    bool is_broken[num_places] = {};
    Result result[num_places] = {};
    // The component of the state that is no number; where that is finite, the save point.
    std::int32_t component[num_places] = {};
    double t[num_places] = {};

    EDDY_HD void add(int place, Result of_lane, std::int32_t of_component, double at) {
        is_broken[place] = true;
        result[place] = of_lane;
        component[place] = of_component;
        t[place] = at;
    }
};

/// A round of one chain, when it is over.
template <class Spec>
struct RoundOfChain {
    const Chain<Spec>& chain;
    const ChainState<Spec>& before;
    const Attempt<Spec>& attempt;
    const ChainState<Spec>& after;
};

/// Where and how a lane ends, and whether the step that it ends with was neither accepted nor
/// rejected.
struct LaneEnding {
    Result result;
    double t;
    std::int32_t component = -1;
    bool breaks_step = false;
};

/// The component that is to blame for a step: the first whose size is no number, or else the one with the largest.
struct Blame {
    std::int32_t component = 0;
    bool is_finite = true;
};
template <class SizeOf>
[[nodiscard]] EDDY_HD Blame blame(int count, const SizeOf& size_of) {
    Blame worst;
    decltype(size_of(0)) largest(-1);
    for (int i = 0; i < count && worst.is_finite; ++i) {
        const auto size = abs(size_of(i));
        worst.is_finite = is_number(size);
        if (worst.is_finite && size <= largest) continue;
        largest = size;
        worst.component = i;
    }
    return worst;
}

/// The ending of a lane that cannot go on.
template <class Spec>
[[nodiscard]] EDDY_HD LaneEnding broken_step(const Problem<Spec>& problem,
                                             const RoundOfChain<Spec>& round, int place) {
    const auto& trial = round.attempt.trial;
    const auto [worst, finite] = blame(Spec::state_size, [&](int i) {
        auto size = primal(trial.next[i]);
        if constexpr (Spec::is_adaptive)
            size = error_ratio(problem, i, primal(trial.error[i]), primal(round.before.y[i]), size);
        return get_lane(size, place);
    });
    const double t = round.chain.steps.time_of(round.before.elapsed, place);
    if constexpr (may_run_out_of_turns<Spec>) {
        const bool runs_out = !finite && round.chain.steps.with_input(
                                             round.before, round.attempt.size, [&](const auto& in) {
                                                 return runs_out_of_turns<Spec>(in, place);
                                             });
        if (runs_out) return {Result::loop_limit, t, worst, !Spec::is_adaptive};
    }
    if constexpr (SolvesLinearSystems<typename Spec::Stepper>) {
        const auto ask = [&](const auto& which) -> std::int32_t {
            return round.chain.steps.with_input(round.before, round.attempt.size, which);
        };
        const std::int32_t pivot =
            ask([&](const auto& in) { return Spec::Stepper::singular_component(in, place); });
        if (pivot >= 0) return {Result::singular_matrix, t, pivot, !Spec::is_adaptive};
        const std::int32_t infinite =
            ask([&](const auto& in) { return Spec::Stepper::infinite_component(in, place); });
        if (infinite >= 0) return {Result::non_finite, t, infinite, !Spec::is_adaptive};
    }
    if constexpr (IteratesWithinSteps<typename Spec::Stepper>) {
        if (get_lane(round.attempt.trial.failed, place))
            return {Result::newton_failed, t, worst, !Spec::is_adaptive};
    }
    return {finite ? Result::dt_underflow : Result::non_finite, t, worst, !Spec::is_adaptive};
}

/// The ending of a lane that a verdict ends.
template <class Spec>
[[nodiscard]] EDDY_HD LaneEnding ending_of(const Problem<Spec>& problem,
                                           const RoundOfChain<Spec>& round, const Verdict& verdict,
                                           const BrokenSaves<Spec::num_places>& broken, int place) {
    if (verdict.turn == Turn::breaks_at_save)
        return {broken.result[place], broken.t[place], broken.component[place]};
    if (verdict.turn == Turn::breaks) return broken_step(problem, round, place);
    if (verdict.result == Result::success)
        return {verdict.result, round.chain.steps.times_of(place).end().t};
    return {verdict.result, round.chain.steps.time_of(round.after.elapsed, place)};
}

/// How often f was asked by so many attempts of steps that head for a tstop: a method that carries f from step to step asks
/// anew behind each one, and the size of the first step takes two.
[[nodiscard]] EDDY_HD inline std::int64_t evaluations_of(const LaneTimes& times,
                                                         std::int64_t attempts, std::int32_t tstop,
                                                         int per_attempt, int at_start) {
    return attempts * per_attempt + (tstop + 1) * std::int64_t{at_start} + (times.dt0 == 0 ? 2 : 0);
}
template <class Stepper>
[[nodiscard]] EDDY_HD std::int64_t evaluations_of(const LaneTimes& times, std::int64_t attempts,
                                                  std::int32_t tstop) {
    return evaluations_of(times, attempts, tstop, Stepper::evaluations_per_attempt,
                          Stepper::evaluations_at_start);
}

/// How often events have asked f: for the side of zero on which each leaves its function, and for a new memory.
/// An event that the lane ends at does not count.
template <class Spec>
[[nodiscard]] EDDY_HD std::int64_t evaluations_of_events(std::int64_t count, bool ends) {
    const std::int64_t each = 1 + std::int64_t{Spec::Stepper::evaluations_at_start};
    return Spec::has_jump ? (count - (ends ? 1 : 0)) * each : 0;
}

/// A lane in the place where it ended, heading for a tstop, after so many attempts. What became of its
/// start is known where lanes begin together.
struct EndedLane {
    LaunchLane lane;
    int place;
    std::int32_t tstop;
    std::int64_t attempts;
    const LaneOutcome& start;
};

/// What became of a lane, if so many of its attempts were rejected, and f was asked so often.
[[nodiscard]] EDDY_HD inline LaneOutcome outcome_of(const LaneTimes& times,
                                                    const LaneEnding& ending, std::int64_t attempts,
                                                    std::int64_t rejected,
                                                    std::int64_t evaluations) {
    const bool moved = times.span > 0;
    return {.accepted = moved ? attempts - rejected - (ending.breaks_step ? 1 : 0) : 0,
            .rejected = rejected,
            .evaluations = evaluations,
            .t = ending.t,
            .component = ending.component,
            .result = ending.result};
}
/// The same of a lane that headed for a tstop.
template <class Spec>
[[nodiscard]] EDDY_HD LaneOutcome outcome_of(const LaneTimes& times, const LaneEnding& ending,
                                             std::int32_t tstop, std::int64_t attempts,
                                             std::int64_t rejected) {
    return outcome_of(times, ending, attempts, rejected,
                      evaluations_of<typename Spec::Stepper>(times, attempts, tstop));
}

/// The size of a lane's first step. From a state that could not be made consistent it is so small that
/// the lane ends with it.
template <class Spec>
[[nodiscard]] EDDY_HD double first_size_from(const typename Spec::LaneState& y, double chosen) {
    const bool is_sought = LaneStart<Spec>::is_solved_for && Spec::is_adaptive;
    return is_sought && !is_number(primal(y[0])) ? TimeLimits<typename Spec::Time>::least : chosen;
}
/// Is the outcome of a lane that ends like this that of its start?
template <class Spec>
[[nodiscard]] EDDY_HD bool ends_at_start(const RoundOfChain<Spec>& round, const Verdict& verdict,
                                         int place) {
    using Start = LaneStart<Spec>;
    return Start::is_solved_for && (!is_number(get_lane(primal(round.before.y[0]), place)) ||
                                    (Start::reports_steps() && verdict.result == Result::success));
}
template <class Spec>
[[nodiscard]] EDDY_HD LaneOutcome outcome_of_start(const Problem<Spec>& problem,
                                                   const EndedLane& ended) {
    if (LaneStart<Spec>::begins_together()) return ended.start;
    if constexpr (LaneStart<Spec>::is_solved_for)
        return LaneStart<Spec>::outcome(problem, ended.lane);
    else
        return {};
}

/// What became of a lane that a verdict ends.
template <class Spec>
[[nodiscard]] EDDY_HD LaneOutcome outcome_at_end(const Problem<Spec>& problem,
                                                 const EndedLane& ended,
                                                 const RoundOfChain<Spec>& round,
                                                 const Verdict& verdict,
                                                 const BrokenSaves<Spec::num_places>& broken) {
    const int place = ended.place;
    if (ends_at_start(round, verdict, place)) return outcome_of_start(problem, ended);
    LaneOutcome outcome = outcome_of<Spec>(
        round.chain.steps.times_of(place), ending_of<Spec>(problem, round, verdict, broken, place),
        ended.tstop, ended.attempts,
        static_cast<std::int64_t>(get_lane(round.chain.rejected, place)));
    outcome.evaluations += round.chain.iterations_of(place);
    return outcome;
}

}  // namespace eddy::inline v0::detail
