#pragma once
// Norms of errors in units of the tolerances (Hairer, Nørsett & Wanner 1993, Solving ODEs I, eqs.
// II.4.10 and II.4.11). The mean of squares is there on its own: a solver takes the root after
// rounding to the single precision of its controller, where it is cheaper.

#include <eddy/core/vec_math.hpp>
#include <limits>

namespace eddy {

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

/// The squared norm of an error estimate of the step from y to next; NaN where `next` is not
/// finite, which an infinite scale would hide.
template <class Real, int size, class Tolerance>
[[nodiscard]] EDDY_HD constexpr Real squared_error_norm(const Vec<Real, size>& error,
                                                        const Vec<Real, size>& y,
                                                        const Vec<Real, size>& next,
                                                        const Real& rtol, const Tolerance& atol) {
    return scaled_mean_square(error + (next - next), max(abs(y), abs(next)), rtol, atol);
}

/// The squared norm n⁴ / (n² + m² / 100) of a method with two error estimates, from the squares of
/// their norms: n of the fine one, m of the coarse one. It falls with a higher power of dt than
/// either, as the error of the step does (Hairer, Nørsett & Wanner 1993, Solving ODEs I, II.10, and
/// their DOP853). Zero where both are; NaN where either is not finite.
template <class Real>
[[nodiscard, gnu::always_inline]] EDDY_HD constexpr Real combined_square(const Real& fine,
                                                                         const Real& coarse) {
    using Scalar = ScalarOf<Real>;
    const Real sum = mul_add(Real(static_cast<Scalar>(0.01)), coarse, fine);
    const Real divisor = max(sum, Real(std::numeric_limits<Scalar>::min()));
    return mul_add(fine, fine / divisor, sum - sum);
}

/// The root of `squared_error_norm`.
template <class Real, int size, class Tolerance>
[[nodiscard]] EDDY_HD constexpr Real error_norm(const Vec<Real, size>& error,
                                                const Vec<Real, size>& y,
                                                const Vec<Real, size>& next, const Real& rtol,
                                                const Tolerance& atol) {
    return sqrt(squared_error_norm(error, y, next, rtol, atol));
}

}  // namespace eddy
