#pragma once
#include <eddy/steppers/stochastic/kinetic_stepper.hpp>
namespace eddy::inline v0 {
/// ALIGN, the additive Langevin method with the increments and areas of the path, for Langevin
/// dynamics. Strong order 2. Friction and noise are exact; the force is evaluated at both ends of
/// the step.
/// Foster, dos Reis & Strange 2024, SIAM J. Numer. Anal. 62(1), doi:10.1137/23M155147X, section 6.
struct ALIGN {
    static constexpr bool has_error_estimate = false, takes_noise = false;
    static constexpr bool is_kinetic = true;
    static constexpr double strong_order = 2, weak_order = 2;
    static constexpr int evaluations = 2;  // of the force
    static constexpr int areas = 1;
    static constexpr double nodes[] = {0, 1};

    template <class Field>
    struct Step {
        constexpr auto operator()(const auto& times, const auto& x, const auto& v, const auto& p,
                                  const auto& noise) const {
            const Field field;
            const auto& [h, w, area, unused] = noise;
            const auto z = field.friction(p) * h;
            const auto of = friction_factors(z);
            const auto rho = eddy::sqrt(2. * z * field.temperature(p) / h);
            const auto force = field.force(times[0], x, p);
            const auto moved = x + h * (of.first * v + h * of.second * force +
                                        rho * (of.second * w + of.area * area));
            const auto velocity =
                of.decay * v +
                h * ((of.first - of.second) * force + of.second * field.force(times[1], moved, p)) +
                rho * (of.first * w - z * of.area * area);
            return concat(moved, velocity);
        }
    };
    template <class Term, bool estimates_error>
    using Stepper = KineticStepper<Term, ALIGN>;
};
}  // namespace eddy::inline v0
