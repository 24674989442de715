#pragma once
#include <eddy/steppers/rosenbrock_stepper.hpp>
namespace eddy::inline v0 {
/// ROS34PW2, 3(2): 4 stages. Third order with any matrix in place of the Jacobian (a W-method),
/// stiffly accurate, embedded second-order error estimate. It was made for partial differential
/// equations with algebraic equations of index 1. The third-order dense output uses only its own
/// stages; the weights were derived for eddy from the four order conditions.
/// Rang & Angermann 2005, BIT Numer. Math. 45(4), 761–787, doi:10.1007/s10543-005-0035-y.
struct ROS34PW2 {
    static constexpr int order = 3;
    static constexpr int embedded_order = 2;
    static constexpr RosenbrockTableau<4> coefficients{
        .gamma = 0.435866521508459,
        .c = {0, 0.871733043016918, 0.7315799577888524, 1},
        .d = {0.435866521508459, -0.435866521508459, -0.4133333762338865, 0},
        .a = {{},
              {2},
              {1.4192173174557647, -0.2592322116729697},
              {4.18476048231916, -0.28519201735549593, 2.294280360279042}},
        .coupling = {{},
                     {-4.588560720558084},
                     {-4.18476048231916, 0.28519201735549593},
                     {-6.368179200128359, -6.795620944466837, 2.8700986043310563}},
        .m = {4.18476048231916, -0.28519201735549593, 2.294280360279042, 1},
        .m_error = {0.2777499476479681, -1.4032398951759992, 1.7726301276675507, 0.5},
    };
    static constexpr RosenbrockInterpolant<4, 2> interpolant{
        .order = 3,
        .h = {{-3.3521014591647744, -1.1764293197691402, -2.294280360279064, -3.398120075195585},
              {1.168682741355576, -5.904383642053201, 7.4586593248891715, 2.103839714916543}}};
    static constexpr bool has_error_estimate = true, takes_noise = false;
    using Controller = PredictiveController;
    template <class Term, bool estimates_error>
    using Stepper = RosenbrockStepper<Term, ROS34PW2, estimates_error>;
};
}  // namespace eddy::inline v0
