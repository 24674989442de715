// expect: tableau: b must sum to 1
// Euler's method, almost.
#include <eddy/steppers/butcher_tableau.hpp>

struct Method {
    static constexpr int order = 1;
    static constexpr eddy::ButcherTableau<1> tableau{
        .c = {0},
        .a = {},
#ifdef EDDY_BAD
        .b = {0.999999},
#else
        .b = {1},
#endif
        .b_error = {},
    };
};
static_assert(eddy::ValidTableau<Method>::value);
