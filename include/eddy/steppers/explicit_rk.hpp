#pragma once
// One step of an explicit Runge–Kutta method and its discrete adjoint, for every tableau, scalar
// type and machine:
//
//   Y_i = y + dt Σ_j a_ij k_j,   k_i = f(t + c_i dt, Y_i, p),   y⁺ = y + dt Σ_i b_i k_i
//
// The adjoint recomputes the stages and runs the same sums backwards (Hager 2000, Numer. Math. 87,
// eq. 20 ff.):
//
//   k̄_i = dt (b_i ȳ⁺ + Σ_j a_ji Ȳ_j),   (Ȳ_i, p̄_i) = k̄_iᵀ ∂f/∂(y, p),   ȳ = ȳ⁺ + Σ_i Ȳ_i,   p̄ = Σ_i
//   p̄_i
//
// Stages that y⁺ does not depend on (the last one of an FSAL method) are not computed. Step sizes
// are data.

#include <eddy/ad/vjp.hpp>
#include <eddy/steppers/add_scaled.hpp>
#include <eddy/steppers/butcher_tableau.hpp>
#include <eddy/trace/field.hpp>

namespace eddy {
namespace detail {

/// The number of leading stages that the new state depends on.
template <RungeKuttaMethod Method>
inline constexpr int num_needed_stages = [] {
    int needed = Method::tableau.num_stages;
    while (needed > 1 && Method::tableau.b[needed - 1] == 0) --needed;
    return needed;
}();

}  // namespace detail

/// A step of `Method` for the vector field `Field`.
template <class Field, RungeKuttaMethod Method>
struct ExplicitRungeKutta {
    static_assert(ValidTableau<Method>::value);
    using Program = FieldProgram<Field>;
    using Pullback = decltype(vjp<1, 2>(Program{}));
    static constexpr int num_stages = detail::num_needed_stages<Method>;
    static constexpr int state_size = Field::state_size;
    static constexpr int parameter_size = Field::parameter_size;
    template <class Real>
    using State = Vec<Real, state_size>;

    /// y⁺ from y. `p` is anything with operator[].
    template <class Real, class Parameters>
    [[nodiscard, gnu::always_inline]] EDDY_HD static constexpr State<Real> step(
        const Real& t, const State<Real>& y, const Parameters& p, const Real& dt) {
        State<Real> k[num_stages];
        State<Real> unused[num_stages];
        stages(t, y, p, dt, k, unused);
        State<Real> next = y;
        static_for<0, num_stages>([&]<int i>() __attribute__((always_inline)) {
            constexpr double b = Method::tableau.b[i];
            if constexpr (b != 0) detail::add_scaled(next, scaled(b, dt), k[i]);
        });
        return next;
    }

    /// The cotangent of y from that of y⁺; adds the cotangent of p to `p_cotangent[component]`.
    template <class Real, class Parameters, class ParameterCotangent>
    [[nodiscard, gnu::always_inline]] EDDY_HD static constexpr State<Real> pullback(
        const Real& t, const State<Real>& y, const Parameters& p, const Real& dt,
        const State<Real>& next_cotangent, ParameterCotangent& p_cotangent) {
        State<Real> k[num_stages];
        State<Real> stage[num_stages];
        stages(t, y, p, dt, k, stage);
        State<Real> cotangent = next_cotangent;
        State<Real> stage_cotangent[num_stages];
        static_for<0, num_stages>([&]<int reversed>() __attribute__((always_inline)) {
            constexpr int i = num_stages - 1 - reversed;
            constexpr double b = Method::tableau.b[i], c = Method::tableau.c[i];
            State<Real> k_cotangent = scale(scaled(b, dt), next_cotangent);
            static_for<i + 1, num_stages>([&]<int j>() __attribute__((always_inline)) {
                constexpr double a = Method::tableau.a[j][i];
                if constexpr (a != 0)
                    detail::add_scaled(k_cotangent, scaled(a, dt), stage_cotangent[j]);
            });
            evaluate<Pullback, Real>(
                [&]<int output>(int component, const Real& value) __attribute__((always_inline)) {
                    if constexpr (output == 0) {
                        stage_cotangent[i].data[component] = value;
                    } else {
                        p_cotangent[component] = p_cotangent[component] + value;
                    }
                },
                t + scaled(c, dt), stage[i], p, k_cotangent);
            cotangent = cotangent + stage_cotangent[i];
        });
        return cotangent;
    }

  private:
    /// weight·dt. The weight is a constant once inlined; clang 14 takes no double as a template
    /// parameter.
    template <class Real>
    [[nodiscard, gnu::always_inline]] EDDY_HD static constexpr Real scaled(double weight,
                                                                           const Real& dt) {
        return Real(static_cast<ScalarOf<Real>>(weight)) * dt;
    }
    template <class Real>
    [[nodiscard, gnu::always_inline]] EDDY_HD static constexpr State<Real> scale(
        const Real& weight, const State<Real>& x) {
        State<Real> product{};
        static_for<0, state_size>([&]<int i>() __attribute__((always_inline)) {
            product.data[i] = weight * x.data[i];
        });
        return product;
    }

    /// The stage derivatives k and the states where they are taken.
    template <class Real, class Parameters>
    [[gnu::always_inline]] EDDY_HD static constexpr void stages(const Real& t, const State<Real>& y,
                                                                const Parameters& p, const Real& dt,
                                                                State<Real> (&k)[num_stages],
                                                                State<Real> (&stage)[num_stages]) {
        static_for<0, num_stages>([&]<int i>() __attribute__((always_inline)) {
            constexpr double c = Method::tableau.c[i];
            stage[i] = y;
            static_for<0, i>([&]<int j>() __attribute__((always_inline)) {
                constexpr double a = Method::tableau.a[i][j];
                if constexpr (a != 0) detail::add_scaled(stage[i], scaled(a, dt), k[j]);
            });
            evaluate<Program, Real>(
                [&]<int output>(int component, const Real& value)
                    __attribute__((always_inline)) { k[i].data[component] = value; },
                t + scaled(c, dt), stage[i], p);
        });
    }
};

}  // namespace eddy
