// expect: tableau: the conditions of order 5 fail
// The classical method of order 4 is not of order 5.
#include <eddy/steppers/butcher_tableau.hpp>

struct Method {
#ifdef EDDY_BAD
    static constexpr int order = 5;
#else
    static constexpr int order = 4;
#endif
    static constexpr eddy::ButcherTableau<4> tableau{
        .c = {0, 1. / 2, 1. / 2, 1},
        .a = {{}, {1. / 2}, {0, 1. / 2}, {0, 0, 1}},
        .b = {1. / 6, 1. / 3, 1. / 3, 1. / 6},
        .b_error = {},
    };
};
static_assert(eddy::ValidTableau<Method>::value);
