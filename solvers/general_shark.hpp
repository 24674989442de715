#pragma once
#include <eddy/steppers/stochastic/stochastic_tableau.hpp>
namespace eddy::inline v0 {
/// GeneralShARK: two evaluations of the drift, three of the diffusion; order 3/2 for additive noise.
/// Foster, dos Reis & Strange 2024, SIAM J. Numer. Anal. 62(1), doi:10.1137/23M155147X, (6.1).
struct GeneralShARK {
    static constexpr bool has_error_estimate = false;
    static constexpr Calculus calculus = stratonovich;
    static constexpr NoiseClass noise = NoiseClass::commutative;
    static constexpr double strong_order = 1, weak_order = 1;
    static constexpr StochasticTableau<3> stochastic{
        .c = {0, 0, 5. / 6},
        .a = {{}, {}, {0, 5. / 6}},
        .b = {0, 2. / 5, 3. / 5},
        .a_w = {{}, {}, {0, 5. / 6}},
        .b_w = {0, 2. / 5, 3. / 5},
        .a_h = {{}, {1}, {1}},
        .b_h = {0, 6. / 5, -6. / 5},
    };
};
}  // namespace eddy::inline v0
