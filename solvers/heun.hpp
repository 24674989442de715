#pragma once
#include <eddy/steppers/butcher_tableau.hpp>
namespace eddy::inline v0 {
/// Heun 2(1), the explicit trapezoidal rule: 2 stages. Second order; Euler's method estimates the
/// error.
/// Heun 1900, Z. Math. Phys. 45, 23–38; Hairer, Nørsett & Wanner 1993, Solving Ordinary
/// Differential Equations I, section II.1, doi:10.1007/978-3-540-78862-1.
struct Heun {
    static constexpr int order = 2;
    static constexpr int embedded_order = 1;
    static constexpr ButcherTableau<2> tableau{
        .c = {0, 1},
        .a = {{}, {1}},
        .b = {1. / 2, 1. / 2},
        .b_error = {-1. / 2, 1. / 2},
    };
};
}  // namespace eddy::inline v0
