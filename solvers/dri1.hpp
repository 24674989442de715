#pragma once
#include <eddy/steppers/stochastic/weak_rk_stepper.hpp>
namespace eddy::inline v0 {
/// DRI1 of weak order 2, for means of functions of the state and any noise. It evaluates drift and
/// diffusion three times, and the diffusion five times if noises do not commute. Its increments
/// take only few values, so that it follows no path of Brownian motion.
/// Debrabant & Rößler 2009, Appl. Numer. Math. 59(3-4), doi:10.1016/j.apnum.2008.03.012.
struct DRI1 {
    static constexpr bool has_error_estimate = false, three_point_noise = true;
    static constexpr Calculus calculus = ito;
    static constexpr NoiseClass noise = NoiseClass::general;
    static constexpr double strong_order = 0, weak_order = 2;
    static constexpr double root_6 = 2.449489742783178, root_38_491 = 0.2781961095278212,
                            root_221_4955 = 0.211190465491295, to_side = 342. / 491;
    /// For scalar, diagonal and additive noise: there, what its other stages bring cancels.
    static constexpr StochasticTableau<5> stochastic{
        .c = {0, to_side, to_side, 1. / 2, 1},
        .a = {{}, {to_side}, {to_side}, {1. / 2}, {-1, 0, 0, 2}},
        .b = {1. / 6, 0, 0, 2. / 3, 1. / 6},
        .a_w = {{}, {}, {}, {(6 - root_6) / 10}, {(3 + 2 * root_6) / 5}},
        .b_w = {193. / 684, 491. / 1368, 491. / 1368},
        .a_root = {{}, {3 * root_38_491}, {-3 * root_38_491}},
        .b_w2 = {0, 1 / (6 * root_38_491), -1 / (6 * root_38_491)},
    };
    /// For the others.
    static constexpr double start = -1070. / 513 * root_221_4955,
                            side = -491. / 513 * root_221_4955;
    static constexpr WeakTableau<3> weak{
        .c = {0, 1. / 2, 1},
        .a = {{}, {1. / 2}, {-1, 2}},
        .a_w = {{}, {(6 - root_6) / 10}, {(3 + 2 * root_6) / 5}},
        .c_own = {0, to_side, to_side},
        .a_own = {{}, {to_side}, {to_side}},
        .a_root = {{}, {3 * root_38_491}, {-3 * root_38_491}},
        .a_cross = {{}, {start, side, side}, {-start, -side, -side}},
        .b = {1. / 6, 2. / 3, 1. / 6},
        .b_w = {193. / 684, 491. / 1368, 491. / 1368},
        .b_w2 = {0, 1 / (6 * root_38_491), -1 / (6 * root_38_491)},
        .b_cross_w = {-4955. / 7072, 4955. / 14144, 4955. / 14144},
        .b_cross_root = {0, -1 / (8 * root_221_4955), 1 / (8 * root_221_4955)},
    };
};
}  // namespace eddy::inline v0
