#pragma once
#include <eddy/steppers/stochastic/stochastic_tableau.hpp>
namespace eddy::inline v0 {
/// SPaRK, the splitting path Runge–Kutta method: three evaluations of drift and diffusion.
/// Heun's method at the ends of the step estimates the error.
/// Foster & Jelinčič 2023, arXiv:2311.14201, definition 1.6.
struct SPaRK {
    static constexpr bool has_error_estimate = true;
    static constexpr Calculus calculus = stratonovich;
    static constexpr NoiseClass noise = NoiseClass::commutative;
    static constexpr double strong_order = 1, weak_order = 1;
    static constexpr double root_3 = 1.7320508075688772, outer = (3 - root_3) / 6;
    static constexpr StochasticTableau<3> stochastic{
        .c = {0, 1. / 2, 1},
        .a = {{}, {1. / 2}, {0, 1}},
        .b = {outer, root_3 / 3, outer},
        .a_w = {{}, {1. / 2}, {0, 1}},
        .b_w = {outer, root_3 / 3, outer},
        .a_h = {{}, {root_3}},
        .b_h = {1, 0, -1},
        .e = {outer - 1. / 2, root_3 / 3, outer - 1. / 2},
        .e_w = {outer - 1. / 2, root_3 / 3, outer - 1. / 2},
        .e_h = {1, 0, -1},
    };
};
}  // namespace eddy::inline v0
