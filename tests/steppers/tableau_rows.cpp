// expect: tableau: the rows of a must sum to c
// The midpoint rule, evaluated at another time.
#include <eddy/steppers/butcher_tableau.hpp>

struct Method {
    static constexpr int order = 2;
    static constexpr eddy::ButcherTableau<2> tableau{
#ifdef EDDY_BAD
        .c = {0, 1. / 3},
#else
        .c = {0, 1. / 2},
#endif
        .a = {{}, {1. / 2}},
        .b = {0, 1},
        .b_error = {},
    };
};
static_assert(eddy::ValidTableau<Method>::value);
