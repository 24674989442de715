#pragma once
// Proportional-integral-derivative control of the step size (Söderlind 2003, ACM Trans. Math.
// Softw. 29(1), 1–26, doi:10.1145/641876.641877). After an accepted step with error norm e, k the
// order of that norm, the next step is dt times
//
//   safety e^(−β1/k) e₁^(−β2/k) e₂^(−β3/k),   β1 = p + i + d,   β2 = −p − 2d,   β3 = d,
//
// e₁ and e₂ the norms of the two accepted errors before. After a rejected step it is dt times
// safety e^(−1/k), as in DOPRI5 (Hairer, Nørsett & Wanner 1993, Solving ODEs I, II.4): history says
// nothing of a step that failed. The step right after a rejection does not grow (there, p. 168).
// Invariant: a rejected step shrinks; NaN is rejected.

#include <eddy/steppers/controller/decision.hpp>
#include <limits>

namespace eddy {

/// The general controller; `i_controller` and `pi_controller` give it other coefficients. The
/// default coefficients are H312PID of the paper's table III.
struct PIDController {
    double pcoeff = -2. / 9, icoeff = 2. / 9, dcoeff = 1. / 18;
    double safety = 0.9;
    double min_factor = 0.2, max_factor = 10;                             // FAC1 and FAC2 of DOPRI5
    double dt_min = 0, dt_max = std::numeric_limits<double>::infinity();  // magnitudes

    template <class Real>
    [[nodiscard]] EDDY_HD StepDecision<Real> propose(const Real& error_norm, const Real& dt,
                                                     int error_order,
                                                     const ControllerHistory<Real>& history) const {
        const MaskOf<Real> accept = error_norm <= number<Real>(1), reject = !accept;
        const Real factor = select(accept, after_accepted(error_norm, error_order, history),
                                   after_rejected(error_norm, error_order));
        const Real size = abs(dt);
        const Real next = min(max(size * factor, number<Real>(dt_min)), number<Real>(dt_max));
        const MaskOf<Real> at_minimum = size <= number<Real>(dt_min);
        // Floored as in DOPRI5: an error that vanished by chance must not make the next step
        // shrink.
        const Real remembered = max(error_norm, number<Real>(1e-4));
        return {accept,
                MaskOf<Real>(reject & at_minimum),
                copysign(next, dt),
                {select(accept, remembered, history.previous_error),
                 select(accept, history.previous_error, history.earlier_error), reject}};
    }

  private:
    template <class Real>
    [[nodiscard]] EDDY_HD static Real number(double x) {
        return Real(static_cast<ScalarOf<Real>>(x));
    }
    /// x^exponent of an error norm; zero is taken for the smallest number whose powers are finite.
    template <class Real>
    [[nodiscard]] EDDY_HD static Real power(const Real& error, double exponent) {
        return pow(max(error, number<Real>(1e-20)), number<Real>(exponent));
    }
    template <class Real>
    [[nodiscard]] EDDY_HD Real after_accepted(const Real& error_norm, int error_order,
                                              const ControllerHistory<Real>& history) const {
        const double beta1 = pcoeff + icoeff + dcoeff, beta2 = -pcoeff - 2 * dcoeff;
        const Real factor = number<Real>(safety) * power(error_norm, -beta1 / error_order) *
                            power(history.previous_error, -beta2 / error_order) *
                            power(history.earlier_error, -dcoeff / error_order);
        const Real most = select(history.was_rejected, number<Real>(1), number<Real>(max_factor));
        return min(max(factor, number<Real>(min_factor)), most);
    }
    template <class Real>
    [[nodiscard]] EDDY_HD Real after_rejected(const Real& error_norm, int error_order) const {
        const Real factor = number<Real>(safety) * power(error_norm, -1. / error_order);
        // The order of the arguments sends NaN to min_factor.
        return min(max(number<Real>(min_factor), factor), number<Real>(safety));
    }
};

/// Integral control, e^(−1/k): the elementary controller.
[[nodiscard]] constexpr PIDController i_controller() {
    return {.pcoeff = 0, .icoeff = 1, .dcoeff = 0};
}
/// Proportional-integral control PI.3.4, p = 0.4 and i = 0.3: smoother where stability limits dt.
[[nodiscard]] constexpr PIDController pi_controller() {
    return {.pcoeff = 0.4, .icoeff = 0.3, .dcoeff = 0};
}

}  // namespace eddy
