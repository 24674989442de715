#pragma once
#include <eddy/steppers/stochastic/stochastic_tableau.hpp>
namespace eddy::inline v0 {
/// SRA1: additive noise, two evaluations of the drift.
/// Rößler 2010, SIAM J. Numer. Anal. 48(3), 922–952, doi:10.1137/09076636X.
struct SRA1 {
    static constexpr bool has_error_estimate = true;
    static constexpr Calculus calculus = ito;
    static constexpr NoiseClass noise = NoiseClass::additive;
    static constexpr double strong_order = 1.5, weak_order = 2;
    static constexpr StochasticTableau<3> stochastic{
        .c = {0, 3. / 4, 1},
        .a = {{}, {3. / 4}},
        .b = {1. / 3, 2. / 3, 0},
        .a_w = {{}, {3. / 4}},
        .b_w = {1. / 2, 0, 1. / 2},
        .a_h = {{}, {3. / 2}},
        .b_h = {1, 0, -1},
        .e = {-2. / 3, 2. / 3, 0},
    };
};
}  // namespace eddy::inline v0
