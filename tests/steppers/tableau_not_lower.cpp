// expect: tableau: a of an explicit method must be strictly lower triangular
// The implicit midpoint rule is no explicit method.
#include <eddy/steppers/butcher_tableau.hpp>

struct Method {
    static constexpr int order = 1;
    static constexpr eddy::ButcherTableau<1> tableau{
#ifdef EDDY_BAD
        .c = {1. / 2},
#else
        .c = {0},
#endif
#ifdef EDDY_BAD
        .a = {{1. / 2}},
#else
        .a = {{0}},
#endif
        .b = {1},
        .b_error = {},
    };
};
static_assert(eddy::ValidTableau<Method>::value);
