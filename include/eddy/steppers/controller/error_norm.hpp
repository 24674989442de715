#pragma once
// Norms in units of the tolerances (Hairer, Nørsett & Wanner 1993, Solving ODEs I, eqs. II.4.10 and
// II.4.11): that of an error estimate squared and in single precision, as controllers take it; those
// that the first step size is made of in the precision of the state.
// Test: tests/steppers/controllers.cpp

#include <eddy/core/vec_math.hpp>
#include <eddy/steppers/controller/squared_ratios.hpp>
#include <limits>
#include <type_traits>

namespace eddy::inline v0 {

/// The mean of (x_i / (atol_i + rtol magnitude_i))²; atol is a number or a Vec. A component whose
/// scale and x are both zero counts as zero.
template <class Real, int size, class Tolerance>
[[nodiscard]] EDDY_HD constexpr Real scaled_mean_square(const Vec<Real, size>& x,
                                                        const Vec<Real, size>& magnitude,
                                                        const Real& rtol, const Tolerance& atol) {
    const Real smallest(std::numeric_limits<ScalarOf<Real>>::min());
    Vec<Real, size> ratio{};
    for_components<size>([&](int i) {
        const Real tolerance = detail::component<ScalarOf<Real>>(atol, i) + rtol * magnitude[i];
        ratio[i] = x[i] / max(tolerance, smallest);
    });
    return dot(ratio, ratio) / Real(static_cast<ScalarOf<Real>>(size));
}

/// The root of `scaled_mean_square`.
template <class Real, int size, class Tolerance>
[[nodiscard]] EDDY_HD constexpr Real scaled_rms(const Vec<Real, size>& x,
                                                const Vec<Real, size>& magnitude, const Real& rtol,
                                                const Tolerance& atol) {
    return sqrt(scaled_mean_square(x, magnitude, rtol, atol));
}

/// max(abs(a), abs(b)). Of single numbers the sign goes last: a device would make two numbers of the first two.
template <class Real>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Real larger_magnitude(const Real& a, const Real& b) {
    if constexpr (std::is_floating_point_v<Real>)
        return abs(abs(a) < abs(b) ? b : a);
    else
        return max(abs(a), abs(b));
}

/// The error of one component of a step from y to next, with the scale that it is measured by.
template <class Real>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Scaled<Real> scaled_error(const Real& error, const Real& y,
                                                                   const Real& next,
                                                                   const ScalarOf<Real>& rtol,
                                                                   const ScalarOf<Real>& atol) {
    const Real magnitude = larger_magnitude(next, y);  // in this order NaN in `next` stays
    const Real scale = mul_add(magnitude, Real(rtol), Real(atol));
    return {error, max(scale, Real(std::numeric_limits<ScalarOf<Real>>::min()))};
}

/// The mean of the squares (error_i / (atol_i + rtol max(|y_i|, |next_i|)))², in single precision: the
/// squared norm of an error estimate of the step from y to next. NaN where `next` is not finite, and
/// where a scale overflows. Dual numbers count by their values; atol is a number or a Vec.
template <class Number, int size, class Tolerance>
[[nodiscard]] EDDY_INLINE EDDY_HD inline auto squared_error_norm(const Vec<Number, size>& error,
                                                                 const Vec<Number, size>& y,
                                                                 const Vec<Number, size>& next,
                                                                 const ScalarOf<Number>& rtol,
                                                                 const Tolerance& atol) {
    using Real = PrimalOf<Number>;
    using Coefficient = ScalarOf<Number>;
    using Single = WithElement<Real, float>;
    return sum_of_squared_ratios<size>([&](int i) EDDY_INLINE {
               return scaled_error(primal(error[i]), primal(y[i]), primal(next[i]), rtol,
                                   detail::component<Coefficient>(atol, i));
           }) *
           Single(1.f / static_cast<float>(size));
}

/// The squared norm n⁴ / (n² + m² / 100) of a method with two error estimates, from the squares of
/// their norms: n of the fine one, m of the coarse one. It falls with a higher power of dt than
/// either, as the error of the step does (Hairer, Nørsett & Wanner 1993, Solving ODEs I, II.10, and
/// their DOP853). Zero where both are; NaN where either is not finite.
template <class Real>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr Real combined_square(const Real& fine,
                                                                 const Real& coarse) {
    using Coefficient = ScalarOf<Real>;
    const Real sum = mul_add(Real(static_cast<Coefficient>(0.01)), coarse, fine);
    const Real divisor = max(sum, Real(std::numeric_limits<Coefficient>::min()));
    return mul_add(fine, fine / divisor, sum - sum);
}

}  // namespace eddy::inline v0
