// expect: tableau: the conditions of order 2 fail
// The midpoint rule with the weights of another method.
#include <eddy/steppers/butcher_tableau.hpp>

struct Method {
    static constexpr int order = 2;
    static constexpr eddy::ButcherTableau<2> tableau{
        .c = {0, 1. / 2},
        .a = {{}, {1. / 2}},
#ifdef EDDY_BAD
        .b = {1. / 2, 1. / 2},
#else
        .b = {0, 1},
#endif
        .b_error = {},
    };
};
static_assert(eddy::ValidTableau<Method>::value);
