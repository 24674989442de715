// expect: Rosenbrock tableau: R\(infinity\) must be 0
// The implicit Euler method, linearised; with half of it implicit, fast components stay.
#include <eddy/steppers/rosenbrock_tableau.hpp>

#ifdef EDDY_BAD
constexpr double part = 1. / 2;
#else
constexpr double part = 1;
#endif

struct Method {
    static constexpr int order = 1, embedded_order = 1;
    static constexpr eddy::RosenbrockTableau<1> coefficients{.gamma = part,
                                                             .c = {0},
                                                             .d = {part},
                                                             .a = {{}},
                                                             .coupling = {{}},
                                                             .m = {1 / part},
                                                             .m_error = {0}};
    static constexpr eddy::RosenbrockInterpolant<1, 1> interpolant{.order = 1, .h = {{0}}};
};
static_assert(eddy::ValidRosenbrockTableau<Method>::value);
