#pragma once
#include <eddy/steppers/butcher_tableau.hpp>
namespace eddy::inline v0 {
/// Ralston 2(1): 2 stages, the least error bound of all second-order methods with two. Euler's
/// method estimates the error.
/// Ralston 1962, Math. Comp. 16(80), 431–437, doi:10.1090/S0025-5718-1962-0150954-0.
struct Ralston {
    static constexpr int order = 2;
    static constexpr int embedded_order = 1;
    static constexpr ButcherTableau<2> tableau{
        .c = {0, 2. / 3},
        .a = {{}, {2. / 3}},
        .b = {1. / 4, 3. / 4},
        .b_error = {-3. / 4, 3. / 4},
    };
};
}  // namespace eddy::inline v0
