#pragma once
#include <eddy/steppers/stochastic/stochastic_tableau.hpp>
namespace eddy::inline v0 {
/// SOSRI: scalar and diagonal noise, four evaluations of drift and diffusion, a large region of
/// stability. Rackauckas & Nie 2020, IEEE HPEC, doi:10.1109/HPEC43674.2020.9286178; digits of the
/// authors' StochasticDiffEq.jl. Stages: both functions at the start, then in turn the drift at
/// H0(i) and the diffusion at H(i).
struct SOSRI {
    static constexpr bool has_error_estimate = true;
    static constexpr Calculus calculus = ito;
    static constexpr NoiseClass noise = NoiseClass::diagonal;
    static constexpr double strong_order = 1.5, weak_order = 1;
    static constexpr double alpha[4] = {1.140099274172029, -.6401334255743456, .4736296532772559,
                                        .026404498125060714};
    static constexpr double A0[4][4] = {
        {},
        {-.04199224421316468},
        {2.842612915017106, -2.0527723684000727},
        {4.338237071435815, -2.8895936137439793, 2.3017575594644466}};
    static constexpr double A1[4][4] = {
        {},
        {.26204282091330466},
        {.20903646383505375, -.1502377115150361},
        {.05836595312746999, .6149440396332373, .08535117634046772}};
    static constexpr double B0[4][4] = {
        {},
        {-.21641093549612528},
        {1.5336352863679572, .26066223492647056},
        {-1.0536037558179159, 1.7015284721089472, -.20725685784180017}};
    static constexpr double B1[4][4] = {
        {},
        {-.5119011827621657},
        {2.67767339866713, -4.9395031322250995},
        {.15580956238299215, 3.2361551006624674, -1.4223118283355949}};
    static constexpr double beta1[4] = {-1.8453464565104432, 2.688764531100726, -.2523866501071323,
                                        .40896857551684956};
    static constexpr double beta2[4] = {.4969658141589478, -.5771202869753592, -.12919702470322217,
                                        .2093514975196336};
    static constexpr double beta3[4] = {2.8453464565104425, -2.688764531100725, .2523866501071322,
                                        -.40896857551684945};
    static constexpr double beta4[4] = {.11522663875443433, -.57877086147738, .2857851028163886,
                                        .17775911990655704};
    static constexpr StochasticTableau<7> stochastic = [] {
        StochasticTableau<7> table;
        for (int i = 0; i < 4; ++i) {
            const int drift = i == 0 ? 0 : 2 * i - 1, diffusion = 2 * i;
            table.b[drift] = alpha[i];
            table.b_w[diffusion] = beta1[i] + beta3[i] / 2;
            table.b_h[diffusion] = beta3[i];
            table.b_w2[diffusion] = beta2[i];
            table.b_w3[diffusion] = beta4[i];
            table.e[drift] = alpha[i] - (i == 0 ? 1 : 0);
            table.e_w[diffusion] = beta3[i] / 2;
            table.e_h[diffusion] = beta3[i];
            table.e_w3[diffusion] = beta4[i];
            for (int j = 0; j < i; ++j) {
                const int drift_j = j == 0 ? 0 : 2 * j - 1, diffusion_j = 2 * j;
                table.a[drift][drift_j] = A0[i][j];
                table.c[drift] += A0[i][j];
                table.a_w[drift][diffusion_j] = B0[i][j] / 2;
                table.a_h[drift][diffusion_j] = B0[i][j];
                table.a[diffusion][drift_j] = A1[i][j];
                table.c[diffusion] += A1[i][j];
                table.a_root[diffusion][diffusion_j] = B1[i][j];
            }
        }
        return table;
    }();
};
}  // namespace eddy::inline v0
