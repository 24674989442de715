#pragma once
#include <eddy/steppers/butcher_tableau.hpp>
namespace eddy::inline v0 {
/// Euler's method: 1 stage, no error estimate.
/// Euler 1768, Institutionum calculi integralis, vol. 1; Hairer, Nørsett & Wanner 1993, Solving
/// Ordinary Differential Equations I, section I.7, doi:10.1007/978-3-540-78862-1.
struct Euler {
    static constexpr int order = 1;
    static constexpr ButcherTableau<1> tableau{
        .c = {0},
        .a = {},
        .b = {1},
        .b_error = {},
    };
};
}  // namespace eddy::inline v0
