#pragma once
// Does the cotangent at a step hold a mode that the steps do not resolve? The error control saw the
// state alone; where a mode of the Jacobian J lies at zero in the state, h may pass the bound of
// stability, and the derivative along it grows from step to step. Powers v_q = (hJᵀ)^q λ of the
// cotangent show it, for the stiffest mode grows fastest:
//
//   suspicion   |v_6| > θ² |v_4|. Two powers apart: an oscillator's are long and short by turns;
//   r           else six further products, and the geometric mean of the last four ratios, which
//               stands for the modulus |hλ| of the mode that λ holds most of.
//
// θ is half the stability length of the method. Norms are largest magnitudes. Why these powers, and
// what they cost: docs/design/stable_gradients.md.
// Test: tests/steppers/adjoint_watch.cpp

#include <eddy/core/lanes.hpp>
#include <eddy/core/vec_math.hpp>
#include <eddy/steppers/explicit_rk.hpp>
#include <eddy/steppers/stability_polynomial.hpp>
#include <eddy/steppers/stage_time.hpp>

namespace eddy::inline v0 {

namespace detail {

/// Parameters without their tangents.
template <class Real, class Parameters>
struct PrimalParameters {
    const Parameters& p;
    [[nodiscard]] EDDY_INLINE EDDY_HD Real operator[](int i) const {
        return convert<Real>(primal(p[i]));
    }
    template <class Time>
    EDDY_INLINE EDDY_HD void move_to(const Time& t) const requires requires {
        p.move_to(t);
    }
    { p.move_to(t); }
};

/// The largest magnitude of a component.
template <class Real, int size>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Real largest_magnitude(const Vec<Real, size>& x) {
    Real largest = abs(x[0]);
    for_components<size - 1>([&](int i) EDDY_INLINE { largest = max(largest, abs(x[i + 1])); });
    return largest;
}

/// r, or 0 where nothing is suspect, of a cotangent w that knows its powers: `multiply` makes it hJᵀw, `norm` is its
/// largest magnitude, by which `divide` divides it.
template <class Real, class Powers>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Real adjoint_ratio(Powers& w, double threshold) {
    for (int q = 0; q < 4; ++q) w.multiply();
    const Real before = w.norm();
    for (int q = 4; q < 6; ++q) w.multiply();
    const Real bound(static_cast<typename Powers::Scalar>(threshold * threshold));
    const auto suspect = w.norm() > bound * before;
    if (!any(suspect)) return Real(0);
    Real mean(1);
    for (int q = 0; q < 6; ++q) {
        w.divide(w.norm());
        w.multiply();
        if (q >= 2) mean = mean * w.norm();
    }
    return select(suspect, sqrt(sqrt(mean)), Real(0));
}

}  // namespace detail

/// Of an explicit Runge–Kutta method for the vector field `Field`.
template <class Field, RungeKuttaMethod Method>
struct AdjointWatch {
    static constexpr double threshold = 0.5 * stability_length<Method>;
    template <class Real>
    using State = Vec<Real, Field::state_size>;

    /// r, or 0 where nothing is suspect: for a step from `y`, which has no tangents, as the rest of
    /// `in` may have, with the cotangent of y. NaN where that is zero, or not finite.
    template <class Input, class Real>
    [[nodiscard]] EDDY_HD static Real ratio(const Input& in, const State<Real>& y,
                                            const State<Real>& w) {
        Powers<Input, Real> powers{in, y, w};
        return detail::adjoint_ratio<Real>(powers, threshold);
    }

  private:
    template <class Input, class Real>
    struct Powers {
        using Scalar = ScalarOf<Real>;
        const Input& in;
        const State<Real>& y;
        State<Real> w;

        EDDY_INLINE EDDY_HD void multiply() { w = product(in, y, w); }
        [[nodiscard]] EDDY_INLINE EDDY_HD Real norm() const { return detail::largest_magnitude(w); }
        EDDY_INLINE EDDY_HD void divide(const Real& norm) {
            for_components<Field::state_size>([&](int i) { w[i] = w[i] / norm; });
        }
    };
    using Pullback = decltype(vjp<1, 2>(FieldProgram<Field>{}));

    /// h Jᵀ w.
    template <class Input, class Real>
    [[nodiscard]] EDDY_INLINE EDDY_HD static State<Real> product(const Input& in,
                                                                 const State<Real>& y,
                                                                 const State<Real>& w) {
        using Parameters = std::remove_cvref_t<decltype(in.p)>;
        const detail::PrimalParameters<Real, Parameters> p{in.p};
        State<Real> sum{};
        evaluate<Pullback, Real>(
            [&]<int output>(int component, const Real& value) EDDY_INLINE {
                if constexpr (output == 0) sum.data[component] = value;
            },
            detail::start_time_of(in.t), y, p, detail::scaled(in.dt.h, w));
        return sum;
    }
};

}  // namespace eddy::inline v0
