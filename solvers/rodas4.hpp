#pragma once
#include <eddy/steppers/rosenbrock_stepper.hpp>
namespace eddy::inline v0 {
/// RODAS, 4(3): 6 stages. Fourth order, stiffly accurate, third-order dense output. The embedded
/// third-order error estimate is stiffly accurate as well.
/// Hairer & Wanner 1996, Solving ODEs II, IV.7, doi:10.1007/978-3-642-05221-7; the coefficients are
/// those of their program.
struct Rodas4 {
    static constexpr int order = 4;
    static constexpr int embedded_order = 3;
    static constexpr RosenbrockTableau<6> coefficients{
        .gamma = 0.25,
        .c = {0, 0.386, 0.21, 0.63, 1, 1},
        .d = {0.25, -0.1043, 0.1035, -0.0362, 0, 0},
        .a = {{},
              {1.544},
              {0.9466785280815826, 0.2557011698983284},
              {3.314825187068521, 2.896124015972201, 0.9986419139977817},
              {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895},
              {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 1}},
        .coupling = {{},
                     {-5.6688},
                     {-2.430093356833875, -0.2063599157091915},
                     {-0.1073529058151375, -9.594562251023355, -20.47028614809616},
                     {7.496443313967647, -10.24680431464352, -33.99990352819905, 11.7089089320616},
                     {8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136,
                      -6.058818238834054}},
        .m = {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 1, 1},
        .m_error = {0, 0, 0, 0, 0, 1},
    };
    static constexpr RosenbrockInterpolant<6, 2> interpolant{
        .order = 3,
        .h = {{10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823,
               1.025137723295662},
              {-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386,
               -6.594389125716872}}};
    static constexpr bool has_error_estimate = true, takes_noise = false;
    using Controller = PredictiveController;
    template <class Term, bool estimates_error>
    using Stepper = RosenbrockStepper<Term, Rodas4, estimates_error>;
};
}  // namespace eddy::inline v0
