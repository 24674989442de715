#pragma once
// Predictive control of the step size (Gustafsson 1994, ACM Trans. Math. Softw. 20(4), 496–517; Hairer &
// Wanner 1996, Solving ODEs II, IV.8, eq. 8.25): stiff problems let steps grow for long, and a
// controller that expects the error to change as it did from the step before to this one keeps up. After
// an accepted step of size h with error norm e, h₁ and e₁ those of the accepted step before, k the order
// of the norm, the next is longer by the smaller of
//
//   safety e^(−1/k)   and   safety (h / h₁) (e₁ / e²)^(1/k).
//
// After a rejected step it is safety e^(−1/k), and the step after that does not grow.
// Invariant: a rejected step shrinks, by min_factor where its error is infinite or NaN.
// Test: tests/steppers/predictive.cpp

#include <eddy/steppers/controller/step_factor.hpp>

namespace eddy::inline v0 {

namespace detail {

/// With its coefficients in the numbers of its answers (see PIDControl).
struct PredictiveControl {
    float safety, min_factor, max_factor;

    /// History holds log2 of e₁ and, as `earlier_log2`, log2 of the ratio of the size that is tried to
    /// h₁. That starts at 0, as does log2 of e₁: the first step is then the elementary controller's.
    template <class Real>
    [[nodiscard]] EDDY_INLINE EDDY_HD StepDecision<Real> propose(
        const Real& squared_norm, float error_order, const ControllerHistory<Real>& history) const {
        using Accepted = MaskOf<Real>;
        const Accepted accepted = squared_norm <= Real(1);
        const Real per_order(1.f / error_order), log2_error = log2_of_root(squared_norm);
        const Real plain = -per_order * log2_error;
        const Real predicted = mul_add(per_order, history.previous_log2 - (log2_error + log2_error),
                                       history.earlier_log2);
        const Real exponent = select(accepted, min(plain, predicted), plain);
        const Real factor = Real(safety) * fast_exp2(exponent);
        const Real confined = confine_factor(*this, factor, squared_norm, accepted, history);
        return {confined, remember(log2_error, fast_log2(confined), accepted, history)};
    }

  private:
    /// Errors are remembered as at least 1e-2: one that vanished by chance must not make the next step
    /// shrink. After a rejection the next size is a factor further from that of the last accepted step.
    template <class Real>
    [[nodiscard]] EDDY_INLINE EDDY_HD static ControllerHistory<Real> remember(
        const Real& log2_error, const Real& log2_factor, const MaskOf<Real>& accepted,
        const ControllerHistory<Real>& history) {
        return {select(accepted, max(log2_error, Real(-6.64385619f)), history.previous_log2),
                select(accepted, log2_factor, history.earlier_log2 + log2_factor), !accepted};
    }
};

}  // namespace detail

/// The predictive controller, the default of stiff methods. 0 < min_factor ≤ safety < 1 ≤
/// max_factor.
struct PredictiveController {
    static constexpr bool is_adaptive = true;
    double safety = 0.9;      ///< multiplies the size at which the error would meet the tolerance
    double min_factor = 0.2;  ///< least ratio of a step size to the one before
    double max_factor = 10;   ///< largest ratio of a step size to the one before

    [[nodiscard]] EDDY_HD constexpr detail::PredictiveControl in_single() const {
        return {static_cast<float>(safety), static_cast<float>(min_factor),
                static_cast<float>(max_factor)};
    }
    template <class Real>
    [[nodiscard]] EDDY_INLINE EDDY_HD StepDecision<Real> propose(
        const Real& squared_norm, float error_order, const ControllerHistory<Real>& history) const {
        return in_single().propose(squared_norm, error_order, history);
    }
};

}  // namespace eddy::inline v0
