#pragma once
// What a step-size controller answers, and what it remembers. A controller is a small struct of
// pure functions: it sees the squared norm of an error estimate and its own history, never the
// solver, and answers by what factor the step should change. Whether a step is accepted (its norm is
// at most 1) and how small or large a step may be is for the solver to say. Everything is single
// precision, also for double states: norm and factor are ratios, good to far fewer digits. `Real` is
// float or a pack of floats, each lane of which is decided by itself.
// Test: tests/steppers/controllers.cpp

#include <concepts>
#include <eddy/core/math.hpp>
#include <eddy/core/numeric.hpp>

namespace eddy::inline v0 {

/// What a replay needs of a controller: the norms of the last two accepted errors, as logarithms to
/// base 2, and whether the attempt before this one was rejected.
template <class Real>
struct ControllerHistory {
    Real previous_log2 = Real(0);
    Real earlier_log2 = Real(0);
    MaskOf<Real> was_rejected = MaskOf<Real>(false);
};

/// The answer to one attempt: the size of the next is that of this one times `factor`.
template <class Real>
struct StepDecision {
    Real factor;
    ControllerHistory<Real> history;
};

/// A controller answers propose(squared_norm, error_order, history): the squared norm of the scaled
/// error estimate, at most 1 where the step is accepted, whose root falls as dt^error_order (which
/// need not be whole). It is squared so that no step takes a root; infinity stands for a norm beyond
/// 1e19, NaN for a step that is not finite. One with `static constexpr bool is_adaptive = false`
/// needs no error estimate and is not asked.
template <class Controller, class Real>
concept StepController = requires(const Controller& controller, const Real& squared_norm,
                                  const ControllerHistory<Real>& history) {
    { controller.propose(squared_norm, 1, history) } -> std::same_as<StepDecision<Real>>;
};

namespace detail {

/// A controller as loops ask it: with coefficients in single precision, where it has them so.
template <class Controller>
[[nodiscard]] constexpr auto in_single(const Controller& controller) {
    if constexpr (requires { controller.in_single(); })
        return controller.in_single();
    else
        return controller;
}

}  // namespace detail
}  // namespace eddy::inline v0
