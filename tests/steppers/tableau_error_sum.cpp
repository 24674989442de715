// expect: tableau: b_error must sum to 0
// Heun's method with Euler's for its error.
#include <eddy/steppers/butcher_tableau.hpp>

struct Method {
    static constexpr int order = 2;
    static constexpr eddy::ButcherTableau<2> tableau{
        .c = {0, 1},
        .a = {{}, {1}},
        .b = {1. / 2, 1. / 2},
#ifdef EDDY_BAD
        .b_error = {-1. / 2, 1. / 3},
#else
        .b_error = {-1. / 2, 1. / 2},
#endif
    };
};
static_assert(eddy::ValidTableau<Method>::value);
