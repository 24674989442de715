// expect: tableau: the conditions of order 4 fail
// Kutta's third-order method is not of order 4.
#include <eddy/steppers/butcher_tableau.hpp>

struct Method {
#ifdef EDDY_BAD
    static constexpr int order = 4;
#else
    static constexpr int order = 3;
#endif
    static constexpr eddy::ButcherTableau<3> tableau{
        .c = {0, 1. / 2, 1},
        .a = {{}, {1. / 2}, {-1, 2}},
        .b = {1. / 6, 2. / 3, 1. / 6},
        .b_error = {},
    };
};
static_assert(eddy::ValidTableau<Method>::value);
