// expect: tableau: the conditions of order 3 fail
// Kutta's third-order method, and one that is of order 3 for quadratures only.
#include <eddy/steppers/butcher_tableau.hpp>

struct Method {
    static constexpr int order = 3;
    static constexpr eddy::ButcherTableau<3> tableau{
        .c = {0, 1. / 2, 1},
#ifdef EDDY_BAD
        .a = {{}, {1. / 2}, {0, 1}},
#else
        .a = {{}, {1. / 2}, {-1, 2}},
#endif
        .b = {1. / 6, 2. / 3, 1. / 6},
        .b_error = {},
    };
};
static_assert(eddy::ValidTableau<Method>::value);
