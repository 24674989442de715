#pragma once
// What a step-size controller answers, and what it remembers. A controller is a small struct of
// pure functions: it sees an error norm, the size of the attempted step and its own history, never
// the solver. `Real` is a number or a pack of lanes, each of which is decided by itself.

#include <concepts>
#include <eddy/core/math.hpp>
#include <eddy/core/numeric.hpp>

namespace eddy {

/// What a replay needs of a controller: the norms of the last two accepted errors, and whether the
/// attempt before this one was rejected.
template <class Real>
struct ControllerHistory {
    Real previous_error = Real(1);
    Real earlier_error = Real(1);
    MaskOf<Real> was_rejected = MaskOf<Real>(false);
};

/// The answer to one attempt. `dt` is the size of the next one, with the sign of the last. Where
/// `underflow` is true the step is rejected and already as small as it may be.
template <class Real>
struct StepDecision {
    MaskOf<Real> accept;
    MaskOf<Real> underflow;
    Real dt;
    ControllerHistory<Real> history;
};

/// A controller answers propose(error_norm, dt, error_order, history): the norm of the scaled error
/// estimate, at most 1 where the step is good enough, which falls as dt^error_order.
template <class Controller, class Real>
concept StepController = requires(const Controller& controller, const Real& x,
                                  const ControllerHistory<Real>& history) {
    { controller.propose(x, x, 1, history).dt } -> std::convertible_to<Real>;
};

}  // namespace eddy
