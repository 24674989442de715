#pragma once
#include <eddy/steppers/esdirk_stepper.hpp>
namespace eddy::inline v0 {
/// Kvaerno3, 3(2): 4 stages. Third order, L-stable, stiffly accurate, third-order dense output. Its
/// third stage is the embedded second-order solution, which is L-stable and stiffly accurate as
/// well.
/// Kværnø 2004, BIT Numer. Math. 44(3), 489–502, doi:10.1023/B:BITN.0000046811.70614.38 (ESDIRK
/// 3/2a).
struct Kvaerno3 {
    static constexpr int order = 3;
    static constexpr int embedded_order = 2;
    /// How large the error that Newton's iteration leaves may be, in units of the tolerances; in (0, 1].
    double newton_tolerance = 1e-2;
    static constexpr EsdirkTableau<4> coefficients = [] {
        constexpr double g = 0.4358665215084589994160194511935568;  // 6γ³ − 18γ² + 9γ = 1
        constexpr double a31 = (-4 * g * g + 6 * g - 1) / (4 * g), a32 = (1 - 2 * g) / (4 * g);
        constexpr double a41 = (6 * g - 1) / (12 * g), a42 = -1 / ((24 * g - 12) * g),
                         a43 = (-6 * g * g + 6 * g - 1) / (6 * g - 3);
        return EsdirkTableau<4>{.gamma = g,
                                .c = {0, 2 * g, 1, 1},
                                .a = {{}, {g}, {a31, a32}, {a41, a42, a43}},
                                .b_error = {a41 - a31, a42 - a32, a43 - g, g}};
    }();
    static constexpr EsdirkInterpolant<4, 3> interpolant{
        .order = 3,
        .weights = {{1, -1.0735700900697604300, 0.38238006004650695330},
                    {0, 4.4716901652653417119, -2.9811267768435611413},
                    {1.0452602553351021418, -5.7962401503911625639, 3.5157400151490743286},
                    {-1.0452602553351021418, 2.3981200751955812819, -0.91699329835202014067}}};
    static constexpr bool has_error_estimate = true, takes_noise = false;
    using Controller = PredictiveController;
    template <class Term, bool estimates_error>
    using Stepper = EsdirkStepper<Term, Kvaerno3, estimates_error>;
};
}  // namespace eddy::inline v0
