#pragma once
// How large the error of one lane's attempt is, in units of the tolerances: over the components that change.
// Test: tests/solve/oracle.cpp

#include <eddy/solve/lane/moving_times.hpp>
#include <eddy/solve/lane/problem.hpp>
#include <eddy/steppers/controller/error_norm.hpp>
#include <eddy/steppers/counted_components.hpp>
#include <limits>

namespace eddy::inline v0::detail {

template <class Stepper, class Trial>
[[nodiscard]] bool failed_within([[maybe_unused]] const Trial& trial) {
    if constexpr (Stepper::can_fail)
        return trial.failed;
    else
        return false;
}

/// Squared, of an attempt from y; infinite where the step has failed.
template <class Spec, class Trial>
[[nodiscard]] float squared_error_of(const Problem<Spec>& problem, const typename Spec::State& y,
                                     const Trial& trial) {
    using State = typename Spec::State;
    using Stepper = typename Spec::Stepper;
    using Term = typename Spec::Term;
    if (failed_within<Stepper>(trial)) return std::numeric_limits<float>::infinity();
    return Stepper::squared_error(trial, [&](const State& error) {
        const auto norm_of = [&](const auto& part) {
            const auto of = [&](const State& x) { return counted<Term>(part(x)); };
            return squared_error_norm(of(error), of(y), of(trial.next), problem.rtol,
                                      counted<Term>(problem.atol));
        };
        const float norm = norm_of([](const State& x) { return x; });
        if constexpr (Spec::is_dual) {
            if (problem.counts_tangents)
                return (norm + norm_of([](const State& x) { return detail::tangents_of(x); })) *
                       0.5f;
        }
        return norm;
    });
}

}  // namespace eddy::inline v0::detail
