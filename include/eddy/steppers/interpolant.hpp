#pragma once
// The state anywhere inside a step, and its adjoint, from the stage derivatives of that step. Both
// are linear in y and k with the same weights, so the adjoint is
//
//   ȳ += x̄,   k̄_i += dt w_i(θ) x̄   for the cotangent x̄ of x = y + dt Σ_i w_i(θ) k_i.
//
// θ = 0 gives y; θ = 1 gives y⁺ but for rounding: callers that have y⁺ should use that.
// Test: tests/steppers/interpolants.cpp

#include <eddy/steppers/add_scaled.hpp>
#include <eddy/steppers/dense_weight.hpp>
#include <eddy/steppers/interpolant_tableau.hpp>

namespace eddy::inline v0 {

/// Dense output of `Method`. Its stages are those of `stage_tableau`: the stages of the step, then
/// the further ones. θ is the fraction of the step; `Real` any scalar type, `State` a Vec of it.
template <RungeKuttaMethod Method>
struct Interpolant {
    static constexpr auto tableau = interpolant_tableau<Method>;
    static constexpr int num_stages = tableau.num_stages;
    static constexpr int num_powers = tableau.num_powers;
    /// Of θ^(m+1) dt k_i.
    [[nodiscard]] static constexpr double dense_weight(int i, int m) {
        return tableau.weights[i][m];
    }
    /// In one step from an exact state the interpolant is wrong by O(dt^(order+1)).
    static constexpr int order = tableau.order;

    static constexpr auto stage_tableau = detail::stage_tableau<Method>;
    static_assert(detail::is_strictly_lower(stage_tableau.a) &&
                      detail::rows_sum_to(stage_tableau.a, stage_tableau.c),
                  "interpolant: the rows of its further stages must be explicit and sum to c");

    /// Does the interpolant read k_i? The others need not be computed for it.
    template <int i>
    static constexpr bool uses_stage = [] {
        for (double weight : tableau.weights[i]) {
            if (weight != 0) return true;
        }
        return false;
    }();

    /// w_i(θ).
    template <int i, class Real>
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr Real weight(const Real& theta) {
        return detail::DenseWeight<Interpolant, i>::at(theta);
    }
    /// dw_i/dθ.
    template <int i, class Real>
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr Real weight_slope(const Real& theta) {
        return detail::DenseWeight<Interpolant, i>::slope(theta);
    }

    /// y(t + θ dt). Step and θ may be poorer types than the state: packs beside dual numbers.
    template <class Number, class Real, int size>
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr Vec<Number, size> evaluate(
        const Vec<Number, size>& y, const Real& dt, const Vec<Number, size> (&k)[num_stages],
        const Real& theta) {
        Vec<Number, size> state = y;
        for_used_stages(
            [&]<int i>() EDDY_INLINE { detail::add_scaled(state, dt * weight<i>(theta), k[i]); });
        return state;
    }

    /// dy/dt at t + θ dt: of the interpolant, not of the vector field.
    template <class Number, class Real, int size>
    [[nodiscard]] EDDY_INLINE EDDY_HD static constexpr Vec<Number, size> slope(
        const Vec<Number, size> (&k)[num_stages], const Real& theta) {
        Vec<Number, size> slope{};
        for_used_stages(
            [&]<int i>() EDDY_INLINE { detail::add_scaled(slope, weight_slope<i>(theta), k[i]); });
        return slope;
    }

    /// Adds to the cotangents of y and of each k_i what a cotangent of y(t + θ dt) brings. The
    /// cotangent of θ is dt times the product of `cotangent` and `slope`.
    template <class Number, class Real, int size>
    EDDY_INLINE EDDY_HD static constexpr void pullback(
        const Real& dt, const Real& theta, const Vec<Number, size>& cotangent,
        Vec<Number, size>& y_cotangent, Vec<Number, size> (&k_cotangent)[num_stages]) {
        y_cotangent = y_cotangent + cotangent;
        for_used_stages([&]<int i>() EDDY_INLINE {
            detail::add_scaled(k_cotangent[i], dt * weight<i>(theta), cotangent);
        });
    }

  private:
    template <class Body>
    EDDY_INLINE EDDY_HD static constexpr void for_used_stages(Body&& body) {
        static_for<0, num_stages>([&]<int i>() EDDY_INLINE {
            if constexpr (uses_stage<i>) body.template operator()<i>();
        });
    }
};

}  // namespace eddy::inline v0
