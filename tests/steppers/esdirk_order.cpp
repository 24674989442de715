// expect: ESDIRK tableau: the conditions of its order fail
// The trapezoidal rule, then BDF2 over a step that is cut at another place.
#include <eddy/steppers/esdirk_tableau.hpp>

#ifdef EDDY_BAD
constexpr double weight = 0.35;
#else
constexpr double weight = 0.35355339059327376220;
#endif

struct Method {
    static constexpr int order = 2, embedded_order = 2;
    static constexpr double newton_tolerance = 1e-2, g = 0.29289321881345247560;
    static constexpr eddy::EsdirkTableau<3> coefficients{
        .gamma = g, .c = {0, 2 * g, 1}, .a = {{}, {g}, {1 - weight - g, weight}}, .b_error = {}};
    static constexpr eddy::EsdirkInterpolant<3, 1> interpolant{
        .order = 1, .weights = {{weight}, {weight}, {1 - 2 * weight}}};
};
static_assert(eddy::ValidEsdirkTableau<Method>::value);
