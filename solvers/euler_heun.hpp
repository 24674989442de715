#pragma once
#include <eddy/steppers/stochastic/stochastic_tableau.hpp>
namespace eddy::inline v0 {
/// Euler–Heun: one evaluation of the drift, two of the diffusion.
/// Kloeden & Platen 1992, Numerical Solution of Stochastic Differential Equations, section 15.5.
struct EulerHeun {
    static constexpr bool has_error_estimate = false;
    static constexpr Calculus calculus = stratonovich;
    static constexpr NoiseClass noise = NoiseClass::commutative;
    static constexpr double strong_order = 1, weak_order = 1;
    static constexpr StochasticTableau<2> stochastic{
        .c = {0, 1}, .b = {1, 0}, .a_w = {{}, {1}}, .b_w = {1. / 2, 1. / 2}};
};
}  // namespace eddy::inline v0
