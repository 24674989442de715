#pragma once
// How large the error of an attempt is, in units of the tolerances, as controllers are told.
// Test: tests/solve/constant_components.cpp, tests/solve/oracle.cpp

#include <eddy/solve/lane/problem.hpp>
#include <eddy/solve/lane/tried_step.hpp>
#include <eddy/steppers/controller/error_norm.hpp>
#include <eddy/steppers/counted_components.hpp>
#include <limits>

namespace eddy::inline v0::detail {

template <class Spec, class Trial>
[[nodiscard]] EDDY_INLINE EDDY_HD inline MaskOf<typename Spec::Time> has_failed(
    const Trial& trial) {
    using Time = typename Spec::Time;
    using Primal = typename Spec::Primal;
    return convert<Time>(select(trial.failed, Primal(1), Primal(0))) > Time(0);
}

/// The error of one component of a step, in units of the tolerances: for reports. NaN where `next` is not finite: an
/// infinite scale would hide it.
template <class Spec, class Real>
[[nodiscard]] EDDY_HD Real error_ratio(const Problem<Spec>& problem, int i, const Real& error,
                                       const Real& y, const Real& next) {
    const auto scaled = scaled_error(error, y, next, problem.rtol, problem.atol[i]);
    return (scaled.x + (next - next)) / scaled.scale;
}

/// The squared norm of the components that change.
template <class Spec, class State>
[[nodiscard]] EDDY_INLINE EDDY_HD inline typename Spec::Single squared_norm_of_counted(
    const Problem<Spec>& problem, const State& error, const State& y, const State& next) {
    using Term = typename Spec::Term;
    return squared_error_norm(counted<Term>(error), counted<Term>(y), counted<Term>(next),
                              problem.rtol, counted<Term>(problem.atol));
}

/// The norm of the tangents' error, by the same tolerances.
template <class Spec>
[[nodiscard]] EDDY_HD typename Spec::Single tangent_norm_of(const Problem<Spec>& problem,
                                                            const typename Spec::State& error,
                                                            const typename Spec::State& y,
                                                            const typename Spec::State& next) {
    const auto tangents = [](const typename Spec::State& of) {
        Vec<typename Spec::Primal, Spec::state_size> x;
        for_components<Spec::state_size>([&](int i) { x[i] = primal(of[i].tangent); });
        return x;
    };
    return squared_norm_of_counted<Spec>(problem, tangents(error), tangents(y), tangents(next));
}

/// The squared norm of the error of an attempt from y; infinite where the step has failed.
template <class Spec>
[[nodiscard]] EDDY_INLINE EDDY_HD inline typename Spec::Single squared_norm_of(
    const Problem<Spec>& problem, const typename Spec::State& y, const Attempt<Spec>& attempt) {
    using Primal = typename Spec::Primal;
    using Single = typename Spec::Single;
    const Single norm = Spec::Stepper::squared_error(
        attempt.trial, [&](const typename Spec::State& error) EDDY_INLINE {
            const Single of_state =
                squared_norm_of_counted<Spec>(problem, error, y, attempt.trial.next);
            if constexpr (Spec::is_dual) {
                if (problem.counts_tangents)
                    return Single(0.5f) * (of_state + tangent_norm_of<Spec>(problem, error, y,
                                                                            attempt.trial.next));
            }
            return of_state;
        });
    if constexpr (Spec::Stepper::can_fail) {
        const auto failed =
            convert<Single>(select(attempt.trial.failed, Primal(1), Primal(0))) > Single(0);
        return select(failed, Single(std::numeric_limits<float>::infinity()), norm);
    } else {
        return norm;
    }
}

}  // namespace eddy::inline v0::detail
