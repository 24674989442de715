#pragma once
#include <eddy/steppers/stochastic/stochastic_tableau.hpp>
namespace eddy::inline v0 {
/// SlowRK: scalar and diagonal noise, two evaluations of the drift, five of the diffusion.
/// Foster, dos Reis & Strange 2024, SIAM J. Numer. Anal. 62(1), doi:10.1137/23M155147X, (6.2).
struct SlowRK {
    static constexpr bool has_error_estimate = false;
    static constexpr Calculus calculus = stratonovich;
    static constexpr NoiseClass noise = NoiseClass::diagonal;
    static constexpr double strong_order = 1.5, weak_order = 1.5;
    static constexpr StochasticTableau<7> stochastic{
        .c = {0, 1. / 2, 1. / 2, 1. / 2, 1. / 2, 3. / 4, 1},
        .a = {{}, {1. / 2}, {1. / 2}, {1. / 2}, {1. / 2}, {3. / 4}, {1}},
        .b = {1. / 3, 0, 0, 0, 0, 2. / 3, 0},
        .a_w =
            {{}, {}, {0, 1. / 2}, {0, 0, 1. / 2}, {0, 0, 0, 1}, {0, 0, 0, 3. / 4}, {0, 0, 1. / 2}},
        .b_w = {0, 1. / 6, 1. / 3, 1. / 3, 1. / 6, 0, 0},
        .a_h = {{}, {}, {}, {}, {}, {0, 0, 0, 3. / 2}},
        .b_h = {0, 0, 0, 2, 0, 0, -2},
    };
};
}  // namespace eddy::inline v0
