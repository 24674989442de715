#pragma once
#include <eddy/steppers/stochastic/stochastic_tableau.hpp>
namespace eddy::inline v0 {
/// Euler–Maruyama: strong order 1/2 for any noise, 1 for additive noise.
/// Maruyama 1955, Rend. Circ. Mat. Palermo 4(1), 48–90, doi:10.1007/BF02846028.
struct EulerMaruyama {
    static constexpr bool has_error_estimate = false;
    static constexpr Calculus calculus = ito;
    static constexpr NoiseClass noise = NoiseClass::general;
    static constexpr double strong_order = 0.5, weak_order = 1;
    static constexpr StochasticTableau<1> stochastic{.b = {1}, .b_w = {1}};
};
}  // namespace eddy::inline v0
