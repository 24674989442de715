#pragma once
// Proportional-integral-derivative control of the step size (Söderlind 2003, ACM Trans. Math.
// Softw. 29(1), 1–26, doi:10.1145/641876.641877). After an accepted step with error norm e, k the
// order of that norm, the next step is longer by the factor
//
//   safety e^(−β1/k) e₁^(−β2/k) e₂^(−β3/k),   β1 = p + i + d,   β2 = −p − 2d,   β3 = d,
//
// e₁ and e₂ the norms of the two accepted errors before. After a rejected step it is
// safety e^(−1/k), as in DOPRI5 (Hairer, Nørsett & Wanner 1993, Solving ODEs I, II.4): history says
// nothing of a step that failed. The step right after a rejection does not grow (there, p. 168).
// History keeps logarithms, so that an attempt costs one log2 and one exp2, and halving one takes
// the root of the squared norm.
// Invariant: a rejected step shrinks, by min_factor where its error is infinite or NaN.
// Test: tests/steppers/controllers.cpp

#include <eddy/steppers/controller/step_factor.hpp>

namespace eddy::inline v0 {

namespace detail {

/// The controller with its coefficients in the numbers of its answers, which is how loops ask it: a device
/// would convert doubles at each step, and some are slow at that.
struct PIDControl {
    float beta1, beta2, beta3;
    float safety, min_factor, max_factor;

    template <class Real>
    [[nodiscard]] EDDY_INLINE EDDY_HD StepDecision<Real> propose(
        const Real& squared_norm, float error_order, const ControllerHistory<Real>& history) const {
        using Accepted = MaskOf<Real>;
        const Accepted accepted = squared_norm <= Real(1);
        const Real log2_error = log2_of_root(squared_norm);
        const Real exponent = select(accepted, after_accepted(log2_error, history), log2_error) *
                              Real(-1.f / error_order);
        const Real factor = Real(safety) * fast_exp2(exponent);
        return {confine_factor(*this, factor, squared_norm, accepted, history),
                remember(log2_error, accepted, history)};
    }

  private:
    /// log2 of e^β1 e₁^β2 e₂^β3.
    template <class Real>
    [[nodiscard]] EDDY_INLINE EDDY_HD Real
    after_accepted(const Real& log2_error, const ControllerHistory<Real>& history) const {
        return mul_add(
            Real(beta1), log2_error,
            mul_add(Real(beta2), history.previous_log2, Real(beta3) * history.earlier_log2));
    }
    /// Errors are remembered as at least 1e-4, as in DOPRI5: one that vanished by chance must not
    /// make the next step shrink.
    template <class Real>
    [[nodiscard]] EDDY_INLINE EDDY_HD static ControllerHistory<Real> remember(
        const Real& log2_error, const MaskOf<Real>& accepted,
        const ControllerHistory<Real>& history) {
        const Real remembered = max(log2_error, Real(-13.2877124f));
        return {select(accepted, remembered, history.previous_log2),
                select(accepted, history.previous_log2, history.earlier_log2), !accepted};
    }
};

}  // namespace detail

/// The general controller; `i_controller` and `pid_controller` give it other coefficients.
/// The default is the proportional-integral controller PI.3.4 with p = 0.4 and i = 0.3. At equal
/// error it takes fewer steps than H312PID on the problems of docs/guide/methods.md.
/// `icoeff` must be at least 0 and the sum of the three coefficients above 0; otherwise large
/// errors would make steps grow. 0 < min_factor ≤ safety < 1 ≤ max_factor.
struct PIDController {
    static constexpr bool is_adaptive = true;
    double pcoeff = 0.4;      ///< coefficient of the proportional part
    double icoeff = 0.3;      ///< coefficient of the integral part
    double dcoeff = 0;        ///< coefficient of the derivative part
    double safety = 0.9;      ///< multiplies the size at which the error would meet the tolerance
    double min_factor = 0.2;  ///< least ratio of a step size to the one before: FAC1 of DOPRI5
    double max_factor = 10;   ///< largest ratio of a step size to the one before: FAC2

    [[nodiscard]] EDDY_HD constexpr detail::PIDControl in_single() const {
        return {static_cast<float>(pcoeff + icoeff + dcoeff),
                static_cast<float>(-pcoeff - 2 * dcoeff),
                static_cast<float>(dcoeff),
                static_cast<float>(safety),
                static_cast<float>(min_factor),
                static_cast<float>(max_factor)};
    }
    template <class Real>
    [[nodiscard]] EDDY_INLINE EDDY_HD StepDecision<Real> propose(
        const Real& squared_norm, float error_order, const ControllerHistory<Real>& history) const {
        return in_single().propose(squared_norm, error_order, history);
    }
};

/// The integral controller, e^(−1/k), also called the elementary controller.
[[nodiscard]] constexpr PIDController i_controller() {
    return {.pcoeff = 0, .icoeff = 1, .dcoeff = 0};
}
/// The proportional-integral controller PI.3.4, the default.
[[nodiscard]] constexpr PIDController pi_controller() { return {}; }
/// The proportional-integral-derivative controller H312PID of the paper's table III. It gives the
/// smoothest step sizes.
[[nodiscard]] constexpr PIDController pid_controller() {
    return {.pcoeff = -2. / 9, .icoeff = 2. / 9, .dcoeff = 1. / 18};
}

}  // namespace eddy::inline v0
