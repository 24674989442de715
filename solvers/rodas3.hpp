#pragma once
#include <eddy/steppers/rosenbrock_stepper.hpp>
namespace eddy::inline v0 {
/// Rodas3, 3(2): 4 stages, 3 evaluations. The cheapest stiff method, for loose tolerances. Third
/// order, stiffly accurate, embedded second-order error estimate, second-order dense output.
/// Sandu, Verwer, Blom, Spee, Carmichael & Potra 1997, Atmos. Environ. 31(20), 3459–3472,
/// doi:10.1016/S1352-2310(97)83212-8.
struct Rodas3 {
    static constexpr int order = 3;
    static constexpr int embedded_order = 2;
    static constexpr RosenbrockTableau<4> coefficients{
        .gamma = 0.5,
        .c = {0, 0, 1, 1},
        .d = {0.5, 1.5, 0, 0},
        .a = {{}, {}, {2}, {2, 0, 1}},
        .coupling = {{}, {4}, {1, -1}, {1, -1, -2.666666666666666666666666666666666666667}},
        .m = {2, 0, 1, 1},
        .m_error = {0, 0, 0, 1},
    };
    static constexpr RosenbrockInterpolant<4, 1> interpolant{.order = 2, .h = {{3, -1}}};
    static constexpr bool has_error_estimate = true, takes_noise = false;
    using Controller = PredictiveController;
    template <class Term, bool estimates_error>
    using Stepper = RosenbrockStepper<Term, Rodas3, estimates_error>;
};
}  // namespace eddy::inline v0
