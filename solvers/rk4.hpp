#pragma once
#include <eddy/steppers/butcher_tableau.hpp>
namespace eddy::inline v0 {
/// The classical fourth-order method: 4 stages, no error estimate.
/// Kutta 1901, Z. Math. Phys. 46, 435–453; Hairer, Nørsett & Wanner 1993, Solving Ordinary
/// Differential Equations I, table II.1.2, doi:10.1007/978-3-540-78862-1.
struct RK4 {
    static constexpr int order = 4;
    static constexpr ButcherTableau<4> tableau{
        .c = {0, 1. / 2, 1. / 2, 1},
        .a = {{}, {1. / 2}, {0, 1. / 2}, {0, 0, 1}},
        .b = {1. / 6, 1. / 3, 1. / 3, 1. / 6},
        .b_error = {},
    };
};
}  // namespace eddy::inline v0
