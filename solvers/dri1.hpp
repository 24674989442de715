#pragma once
#include <eddy/steppers/stochastic/stochastic_tableau.hpp>
namespace eddy::inline v0 {
/// DRI1 of weak order 2, for means of functions of the state: three evaluations of drift and
/// diffusion. Its noise takes three values alone, so that it follows no path of Brownian motion. Of the
/// method, the part for scalar and diagonal noise: there, what its other stages bring cancels.
/// Debrabant & Rößler 2009, Appl. Numer. Math. 59(3-4), doi:10.1016/j.apnum.2008.03.012.
struct DRI1 {
    static constexpr bool has_error_estimate = false, three_point_noise = true;
    static constexpr Calculus calculus = ito;
    static constexpr NoiseClass noise = NoiseClass::diagonal;
    static constexpr double strong_order = 0, weak_order = 2;
    static constexpr double root_6 = 2.449489742783178, root_38_491 = 0.2781961095278212,
                            to_side = 342. / 491;
    static constexpr StochasticTableau<5> stochastic{
        .c = {0, to_side, to_side, 1. / 2, 1},
        .a = {{}, {to_side}, {to_side}, {1. / 2}, {-1, 0, 0, 2}},
        .b = {1. / 6, 0, 0, 2. / 3, 1. / 6},
        .a_w = {{}, {}, {}, {(6 - root_6) / 10}, {(3 + 2 * root_6) / 5}},
        .b_w = {193. / 684, 491. / 1368, 491. / 1368},
        .a_root = {{}, {3 * root_38_491}, {-3 * root_38_491}},
        .b_w2 = {0, 1 / (6 * root_38_491), -1 / (6 * root_38_491)},
    };
};
static_assert(ValidStochasticTableau<DRI1>::value);
}  // namespace eddy::inline v0
