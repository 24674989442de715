#pragma once
#include <eddy/steppers/stochastic/stochastic_rk.hpp>
namespace eddy::inline v0 {
/// Milstein's method, for scalar and diagonal noise, in the calculus of the equation, and for noise
/// whose field says that it is `commutative`, in Stratonovich's. The derivative of the diffusion
/// comes from the trace.
/// Milstein 1974, Theory Probab. Appl. 19(3), 557–562, doi:10.1137/1119062.
struct Milstein {
    static constexpr bool has_error_estimate = false;

    template <Calculus of_field, bool commutes = false>
    struct In {
        static constexpr Calculus calculus = commutes ? stratonovich : of_field;
        static constexpr NoiseClass noise =
            commutes ? NoiseClass::commutative : NoiseClass::diagonal;
        static constexpr double strong_order = 1, weak_order = 1;
        static constexpr StochasticTableau<1> stochastic{.b = {1}, .b_w = {1}, .b_slope = {1}};
    };
    template <class Term, bool estimates_error>
    using Stepper = StochasticRungeKuttaStepper<
        Term, In<Term::calculus, Term::noise == NoiseClass::commutative>, estimates_error>;
};
}  // namespace eddy::inline v0
