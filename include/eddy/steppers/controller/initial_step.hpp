#pragma once
// The first step size, by the algorithm of Hairer, Nørsett & Wanner 1993, Solving ODEs I, II.4,
// p. 169: two evaluations of f, none wasted. All norms are `scaled_rms` with the scale of y0.

#include <eddy/core/math.hpp>
#include <eddy/core/numeric.hpp>

namespace eddy {

/// Steps (a) and (b): the size of the explicit Euler step that is tried, from the norms of y0 and
/// f(t0, y0); 1e-6 where they say nothing. At most `span` = |t1 − t0|.
template <class Real>
[[nodiscard]] EDDY_HD Real initial_step_trial(const Real& y_norm, const Real& f_norm,
                                              const Real& span) {
    const Real smallest(static_cast<ScalarOf<Real>>(1e-5));
    const Real trial = Real(static_cast<ScalarOf<Real>>(0.01)) * (y_norm / f_norm);
    const MaskOf<Real> is_usable = MaskOf<Real>((y_norm >= smallest) & (f_norm >= smallest) &
                                                (trial > Real(0)));  // false for NaN
    return min(select(is_usable, trial, Real(static_cast<ScalarOf<Real>>(1e-6))), span);
}

/// Steps (d) to (f): the first step size, from the trial step, the norm of f(t0, y0) and the norm
/// of (f(t0 + trial, y0 + trial f) − f(t0, y0)) / trial, for a method of `order`. At most `span`.
template <class Real>
[[nodiscard]] EDDY_HD Real initial_step(const Real& trial, const Real& f_norm,
                                        const Real& slope_norm, int order, const Real& span) {
    using Number = ScalarOf<Real>;
    const Real steepest = max(f_norm, slope_norm);
    const Real flat = max(Real(static_cast<Number>(1e-6)), trial * Real(static_cast<Number>(1e-3)));
    const Real steep =
        pow(Real(static_cast<Number>(0.01)) / max(steepest, Real(static_cast<Number>(1e-15))),
            Real(static_cast<Number>(1. / (order + 1))));
    const Real next = select(steepest > Real(static_cast<Number>(1e-15)), steep, flat);
    return min(min(Real(static_cast<Number>(100)) * trial, next), span);
}

}  // namespace eddy
