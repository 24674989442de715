#pragma once
#include <eddy/steppers/butcher_tableau.hpp>
namespace eddy::inline v0 {
/// Midpoint 2(1): 2 stages. Second order; Euler's method estimates the error.
/// Runge 1895, Math. Ann. 46, 167–178, doi:10.1007/BF01446807.
struct Midpoint {
    static constexpr int order = 2;
    static constexpr int embedded_order = 1;
    static constexpr ButcherTableau<2> tableau{
        .c = {0, 1. / 2},
        .a = {{}, {1. / 2}},
        .b = {0, 1},
        .b_error = {-1, 1},
    };
};
}  // namespace eddy::inline v0
