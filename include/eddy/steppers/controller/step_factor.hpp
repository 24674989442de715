#pragma once
// What controllers share: the size of an error on a logarithmic scale, and the bounds within which a
// step may grow or shrink.
// Invariant: a rejected step shrinks, by min_factor where its error is infinite or NaN.
// Test: tests/steppers/controllers.cpp, tests/steppers/predictive.cpp

#include <eddy/steppers/controller/decision.hpp>
#include <eddy/steppers/controller/fast_log2.hpp>
#include <limits>

namespace eddy::inline v0::detail {

inline constexpr float largest_squared_norm = std::numeric_limits<float>::max();

/// log2 of an error norm from its square. Zero counts as the smallest normal number, that of an error
/// norm of 1e-19; infinity and NaN as the largest number.
template <class Real>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Real log2_of_root(const Real& squared_norm) {
    constexpr float smallest = std::numeric_limits<float>::min();
    return Real(0.5f) *
           fast_log2(max(min(Real(largest_squared_norm), squared_norm), Real(smallest)));
}

/// A factor of the step size within what the controller allows: no growth right after a rejection, and
/// none of a rejected step.
template <class Control, class Real>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Real confine_factor(
    const Control& control, const Real& factor, const Real& squared_norm,
    const MaskOf<Real>& accepted, const ControllerHistory<Real>& history) {
    const Real most =
        select(accepted, select(history.was_rejected, Real(1), Real(control.max_factor)),
               Real(control.safety));
    const Real least = Real(control.min_factor);
    return select(squared_norm <= Real(largest_squared_norm), min(max(factor, least), most), least);
}

}  // namespace eddy::inline v0::detail
