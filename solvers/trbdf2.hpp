#pragma once
#include <eddy/steppers/esdirk_stepper.hpp>
namespace eddy::inline v0 {
/// TRBDF2, 2(3): 3 stages, a step of the trapezoidal rule and one of BDF2, for loose tolerances.
/// Second order, L-stable. A filtered third-order companion estimates the error.
/// Bank et al. 1985, IEEE Trans. Electron Devices 32(10), 1992–2007; Hosea & Shampine 1996, Appl.
/// Numer. Math. 20(1–2), 21–37, doi:10.1016/0168-9274(95)00115-8.
struct TRBDF2 {
    static constexpr int order = 2;
    static constexpr int embedded_order = 3;
    /// How large the error that Newton's iteration leaves may be, in units of the tolerances; in (0, 1].
    double newton_tolerance = 1e-2;
    static constexpr EsdirkTableau<3> coefficients = [] {
        constexpr double g = 0.29289321881345247559915563789515;  // 1 − √½
        constexpr double w = 0.35355339059327376220042218105242;  // √2 / 4
        return EsdirkTableau<3>{.gamma = g,
                                .c = {0, 2 * g, 1},
                                .a = {{}, {g}, {w, w}},
                                .b_error = {w - (1 - w) / 3, w - (3 * w + 1) / 3, g - g / 3}};
    }();
    static constexpr EsdirkInterpolant<3, 2> interpolant{
        .order = 2,
        .weights = {{0.70710678118654752440, -0.35355339059327376220},
                    {0.70710678118654752440, -0.35355339059327376220},
                    {-0.41421356237309504880, 0.70710678118654752440}}};
    static constexpr bool has_error_estimate = true, takes_noise = false;
    using Controller = PredictiveController;
    template <class Term, bool estimates_error>
    using Stepper = EsdirkStepper<Term, TRBDF2, estimates_error>;
};
}  // namespace eddy::inline v0
