#pragma once
#include <eddy/steppers/rosenbrock_stepper.hpp>
namespace eddy::inline v0 {
namespace detail {
/// γ = 1/(2 + √2), and what its coefficients have in common.
inline constexpr double rosenbrock23_gamma = 0.29289321881345247559915563789515;  // 1 − √½
inline constexpr double rosenbrock23_e32 = 7.4142135623730950488016887242097;     // 6 + √2
}  // namespace detail
/// Rosenbrock23, 2(3): 3 stages, for very loose tolerances. L-stable, second order with any matrix
/// in place of the Jacobian. A third-order companion estimates the error; it is not stable, and
/// over-estimates the error in fast layers.
/// Shampine & Reichelt 1997, The MATLAB ODE suite, SIAM J. Sci. Comput. 18(1), 1–22,
/// doi:10.1137/S1064827594276424 (ode23s), with k₁ = U₁/(γh), k₂ = (U₁ + U₂)/(γh).
struct Rosenbrock23 {
    static constexpr int order = 2;
    static constexpr int embedded_order = 3;
    static constexpr RosenbrockTableau<3> coefficients = [] {
        constexpr double g = detail::rosenbrock23_gamma, e32 = detail::rosenbrock23_e32;
        return RosenbrockTableau<3>{
            .gamma = g,
            .c = {0, 1. / 2, 1},
            .d = {g, 0, -g},
            .a = {{}, {1 / (2 * g)}, {1 / g, 1 / g}},
            .coupling = {{}, {-1 / g}, {-2 / g, -e32 / g}},
            .m = {1 / g, 1 / g, 0},
            .m_error = {-0.5690355937288492, -3.0808802290397617, -0.5690355937288492},
        };
    }();
    static constexpr RosenbrockInterpolant<3, 1> interpolant{
        .order = 2,
        .h = {{0, -1 / ((1 - 2 * detail::rosenbrock23_gamma) * detail::rosenbrock23_gamma)}}};
    static constexpr bool has_error_estimate = true, takes_noise = false;
    using Controller = PredictiveController;
    template <class Term, bool estimates_error>
    using Stepper = RosenbrockStepper<Term, Rosenbrock23, estimates_error>;
};
}  // namespace eddy::inline v0
