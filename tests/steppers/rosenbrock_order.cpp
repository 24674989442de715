// expect: Rosenbrock tableau: the conditions of its order fail
// ROS2 of Verwer et al. 1999, with another weight.
#include <eddy/steppers/rosenbrock_tableau.hpp>

#ifdef EDDY_BAD
constexpr double weight = 1.4;
#else
constexpr double weight = 1.5;
#endif

struct Method {
    static constexpr int order = 2, embedded_order = 1;
    static constexpr double g = 1.7071067811865475244;  // 1 + √½
    static constexpr eddy::RosenbrockTableau<2> coefficients{.gamma = g,
                                                             .c = {0, 1},
                                                             .d = {g, -g},
                                                             .a = {{}, {1 / g}},
                                                             .coupling = {{}, {-2 / g}},
                                                             .m = {weight / g, 1 / (2 * g)},
                                                             .m_error = {1 / (2 * g), 1 / (2 * g)}};
    static constexpr eddy::RosenbrockInterpolant<2, 1> interpolant{.order = 1, .h = {{0, 0}}};
};
static_assert(eddy::ValidRosenbrockTableau<Method>::value);
