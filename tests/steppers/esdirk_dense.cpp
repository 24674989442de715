// expect: dense output is not of its order, or grows on fast components
// A line from the start to the end stays bounded; one along the slope at the start does not.
#include <eddy/steppers/esdirk_tableau.hpp>

#ifdef EDDY_BAD
constexpr double of_start = 1, of_end = 0;
#else
constexpr double of_start = 0, of_end = 1;
#endif

/// The implicit Euler method, with a first stage that nothing reads.
struct Method {
    static constexpr int order = 1, embedded_order = 1;
    static constexpr double newton_tolerance = 1e-2;
    static constexpr eddy::EsdirkTableau<2> coefficients{
        .gamma = 1, .c = {0, 1}, .a = {{}, {}}, .b_error = {}};
    static constexpr eddy::EsdirkInterpolant<2, 1> interpolant{.order = 1,
                                                               .weights = {{of_start}, {of_end}}};
};
static_assert(eddy::ValidEsdirkTableau<Method>::value);
