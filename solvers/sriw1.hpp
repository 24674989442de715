#pragma once
#include <eddy/steppers/stochastic/stochastic_tableau.hpp>
namespace eddy::inline v0 {
/// SRIW1: scalar and diagonal noise, two evaluations of the drift, four of the diffusion.
/// Rößler 2010, SIAM J. Numer. Anal. 48(3), 922–952, doi:10.1137/09076636X, table 6.3. Stages: both
/// functions at the start, the diffusion at H(2), H(3), H(4), the drift at H(2).
struct SRIW1 {
    static constexpr bool has_error_estimate = true;
    static constexpr Calculus calculus = ito;
    static constexpr NoiseClass noise = NoiseClass::diagonal;
    static constexpr double strong_order = 1.5, weak_order = 1;
    static constexpr StochasticTableau<5> stochastic{
        .c = {0, 1. / 4, 1, 1. / 4, 3. / 4},
        .a = {{}, {1. / 4}, {1}, {1. / 4}, {3. / 4}},
        .b = {1. / 3, 0, 0, 0, 2. / 3},
        .a_w = {{}, {}, {}, {}, {3. / 4}},
        .b_w = {0, 2. / 3, 1. / 3, 0, 0},
        .a_h = {{}, {}, {}, {}, {3. / 2}},
        .b_h = {2, -4. / 3, -2. / 3, 0, 0},
        .a_root = {{}, {1. / 2}, {-1}, {-5, 3, 1. / 2}},
        .b_w2 = {-1, 4. / 3, -1. / 3, 0, 0},
        .b_w3 = {-2, 5. / 3, -2. / 3, 1, 0},
        .e = {-2. / 3, 0, 0, 0, 2. / 3},
        .e_w = {1, -2. / 3, -1. / 3, 0, 0},
        .e_h = {2, -4. / 3, -2. / 3, 0, 0},
        .e_w3 = {-2, 5. / 3, -2. / 3, 1, 0},
    };
};
}  // namespace eddy::inline v0
