#pragma once
#include <eddy/steppers/stochastic/stochastic_tableau.hpp>
namespace eddy::inline v0 {
/// SEA, the shifted Euler method for additive noise: one evaluation of the drift.
/// Foster, dos Reis & Strange 2024, SIAM J. Numer. Anal. 62(1), doi:10.1137/23M155147X.
struct SEA {
    static constexpr bool has_error_estimate = false;
    static constexpr Calculus calculus = ito;
    static constexpr NoiseClass noise = NoiseClass::additive;
    static constexpr double strong_order = 1, weak_order = 1;
    static constexpr StochasticTableau<3> stochastic{
        .c = {0, 0, 1},
        .b = {0, 1, 0},
        .a_w = {{}, {1. / 2}},
        .b_w = {1. / 2, 0, 1. / 2},
        .a_h = {{}, {1}},
        .b_h = {1, 0, -1},
    };
};
}  // namespace eddy::inline v0
