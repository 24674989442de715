#pragma once
#include <eddy/steppers/stochastic/stochastic_tableau.hpp>
namespace eddy::inline v0 {
/// SOSRA: additive noise, three evaluations of the drift, a large region of stability.
/// Rackauckas & Nie 2020, IEEE HPEC, doi:10.1109/HPEC43674.2020.9286178; digits of the authors'
/// StochasticDiffEq.jl.
struct SOSRA {
    static constexpr bool has_error_estimate = true;
    static constexpr Calculus calculus = ito;
    static constexpr NoiseClass noise = NoiseClass::additive;
    static constexpr double strong_order = 1.5, weak_order = 2;
    static constexpr double A21 = .6923962376159507, B21 = 1.3371632704399763,
                            B31 = 1.442371048468624, B32 = 1.8632741501139225;
    static constexpr double beta1 = .4237535769069274, beta2 = .6010381474428539,
                            beta3 = -1.0247917243497813;
    static constexpr StochasticTableau<4> stochastic{
        .c = {0, .041248171110700504, A21, 1},
        .a = {{}, {}, {A21}, {-3.1609142252828395, 0, 4.1609142252828395}},
        .b = {.2889874966892885, 0, .6859880440839937, .025024459226717772},
        .a_w = {{}, {}, {B21 / 2}, {B31 / 2, B32 / 2}},
        .b_w = {-16.792534242221663 + beta1 / 2, 17.514995785380226 + beta2 / 2, 0,
                .27753845684143835 + beta3 / 2},
        .a_h = {{}, {}, {B21}, {B31, B32}},
        .b_h = {beta1, beta2, 0, beta3},
        .e = {.2889874966892885 - 1, 0, .6859880440839937, .025024459226717772},
    };
};
}  // namespace eddy::inline v0
