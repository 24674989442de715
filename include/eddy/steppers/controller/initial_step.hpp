#pragma once
// The first step size, by the algorithm of Hairer, Nørsett & Wanner 1993, Solving ODEs I, II.4,
// p. 169: two evaluations of f, none wasted. All norms are `scaled_rms` with the scale of y0. The
// root of step (e) is taken by the controllers' logarithm and power, in single precision: it is a
// guess, and so a lane's bits are those of a pack and of a CUDA thread.
// Test: tests/steppers/controllers.cpp

#include <eddy/core/lanes.hpp>
#include <eddy/core/math.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/steppers/controller/fast_log2.hpp>
#include <limits>

namespace eddy::inline v0 {

namespace detail {

/// (0.01 / x)^(1/degree) for positive normal x, to a relative error of 4e-6, for a degree from 2
/// on; NaN for infinity and NaN.
template <class Real>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Real root_of_hundredth(const Real& x, float degree) {
    using Single = eddy::WithElement<Real, float>;
    constexpr float log2_of_hundredth = -6.64385619f;
    const Real scale = binade_scale(x);
    const Single log2 = Single(log2_of_hundredth) - fast_log2(convert<Single>(x * scale)) +
                        convert<Single>(exponent_of_power(scale));
    // A power in single precision ends at 2^±126, and the root of a double at 2^−516: its eighth
    // root comes first.
    const Real eighth = convert<Real>(fast_exp2(log2 * Single(0.125f / degree)));
    const Real fourth = eighth * eighth, half = fourth * fourth;
    return half * half;
}

}  // namespace detail

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
                                        const Real& slope_norm, float order, const Real& span) {
    using Number = ScalarOf<Real>;
    const Real steepest = max(f_norm, slope_norm);
    const Real flat = max(Real(static_cast<Number>(1e-6)), trial * Real(static_cast<Number>(1e-3)));
    // Nothing is small enough where a derivative is infinite.
    const Real steep = select(steepest <= Real(std::numeric_limits<Number>::max()),
                              detail::root_of_hundredth(steepest, order + 1), Real(0));
    const Real next = select(steepest > Real(static_cast<Number>(1e-15)), steep, flat);
    return min(min(Real(static_cast<Number>(100)) * trial, next), span);
}

}  // namespace eddy::inline v0
