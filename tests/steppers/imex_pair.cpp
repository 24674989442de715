// expect: both tables together satisfy the conditions of the orders
// The implicit Euler method beside Euler's own, whose nodes must be the same.
#include <eddy/steppers/esdirk_tableau.hpp>

#ifdef EDDY_BAD
constexpr double step = 0.5;
#else
constexpr double step = 1;
#endif

struct Method {
    static constexpr int order = 1, embedded_order = 1;
    static constexpr double newton_tolerance = 1e-2;
    static constexpr eddy::EsdirkTableau<2> coefficients{
        .gamma = 1, .c = {0, 1}, .a = {{}, {}}, .b_error = {}};
    static constexpr double explicit_a[2][2] = {{}, {step}};
    static constexpr eddy::EsdirkInterpolant<2, 1> interpolant{.order = 1, .weights = {{0}, {1}}};
};
static_assert(eddy::ValidEsdirkTableau<Method>::value);
