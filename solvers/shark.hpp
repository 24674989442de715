#pragma once
#include <eddy/steppers/stochastic/stochastic_tableau.hpp>
namespace eddy::inline v0 {
/// ShARK, the shifted additive-noise Runge–Kutta method: two evaluations of the drift.
/// Foster, dos Reis & Strange 2024, SIAM J. Numer. Anal. 62(1), doi:10.1137/23M155147X.
struct ShARK {
    static constexpr bool has_error_estimate = true;
    static constexpr Calculus calculus = ito;
    static constexpr NoiseClass noise = NoiseClass::additive;
    static constexpr double strong_order = 1.5, weak_order = 2;
    static constexpr StochasticTableau<4> stochastic{
        .c = {0, 0, 5. / 6, 1},
        .a = {{}, {}, {0, 5. / 6}},
        .b = {0, 2. / 5, 3. / 5, 0},
        .a_w = {{}, {}, {5. / 6}},
        .b_w = {1. / 2, 0, 0, 1. / 2},
        .a_h = {{}, {1}, {1}},
        .b_h = {1, 0, 0, -1},
        .e = {0, -3. / 5, 3. / 5, 0},
    };
};
}  // namespace eddy::inline v0
