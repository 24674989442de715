#pragma once
#include <eddy/steppers/stochastic/kinetic_stepper.hpp>
namespace eddy::inline v0 {
/// QUICSORT, for Langevin dynamics. Strong order 3. Friction and noise are exact; the force is
/// evaluated at the two nodes of Gauss quadrature. It also uses the moments K of its path.
/// Therefore steps finer than `noise_cell` follow a path of their own.
/// Foster, dos Reis & Strange 2024, SIAM J. Numer. Anal. 62(1), doi:10.1137/23M155147X, section 6.
struct QUICSORT {
    static constexpr bool has_error_estimate = false, takes_noise = false;
    static constexpr bool is_kinetic = true;
    static constexpr double strong_order = 3, weak_order = 3;
    static constexpr int evaluations = 2;  // of the force
    static constexpr int areas = 2;
    static constexpr double left = 0.21132486540518712, right = 0.7886751345948129;  // 1/2 ∓ √3/6
    static constexpr double nodes[] = {left, right};

    template <class Field>
    struct Step {
        constexpr auto operator()(const auto& times, const auto& x, const auto& v, const auto& p,
                                  const auto& noise) const {
            const Field field;
            const auto& [h, w, area, third] = noise;
            const auto z = field.friction(p) * h;
            const auto rho = eddy::sqrt(2. * z * field.temperature(p) / h);
            // With W, H and K removed from it the noise is that of a constant force and a kick before it.
            const auto push = rho * (w - 12. * third);
            const auto start = v + rho * (area + 6. * third);
            const auto at = friction_means(z), at_left = friction_means(left * z),
                       at_right = friction_means(right * z);
            const auto at_third = friction_means(z * (1. / 3));

            const auto first = h * field.force(times[0],
                                               x + h * (left * at_left.first * start +
                                                        left * left * at_left.second * push),
                                               p);
            const auto second = h * field.force(times[1],
                                                x + h * (right * at_right.first * start +
                                                         right * right * at_right.second * push +
                                                         (1. / 3) * at_third.first * first),
                                                p);
            const auto moved =
                x + h * (at.first * start + at.second * push +
                         0.5 * (right * at_right.first * first + left * at_left.first * second));
            const auto velocity = at.decay * start +
                                  0.5 * (at_right.decay * first + at_left.decay * second) +
                                  at.first * push - rho * (area - 6. * third);
            return concat(moved, velocity);
        }
    };
    template <class Term, bool estimates_error>
    using Stepper = KineticStepper<Term, QUICSORT>;
};
}  // namespace eddy::inline v0
