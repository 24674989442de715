#pragma once
// The model, what is measured of it, and how likely the measurements are.

#include <eddy/eddy.hpp>
#include <numbers>

namespace kinetics {

/// Dimerization of STAT5 and its traffic through the nucleus after erythropoietin: Boehm et al. 2014,
/// J. Proteome Res. 13(12):5685, doi:10.1021/pr5006923. Minutes and nanomoles per litre.
/// y: STAT5A and STAT5B; their phosphorylated dimers AA, AB, BB; the same dimers in the nucleus.
/// p: the unknowns, in the order of `unknown_names`.
struct Stat5Dimerization {
    static constexpr int state_size = 8, parameter_size = 9;
    static constexpr double cytoplasm = 1.4, nucleus = 0.45;  // picolitres

    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        using std::exp;
        const auto &a = y[0], &b = y[1];
        const auto &epo_degradation = p[0], &export_hetero = p[1], &export_homo = p[2];
        const auto &import_hetero = p[3], &import_homo = p[4], &phosphorylation = p[5];
        const auto epo = 1.25e-7 * exp(-epo_degradation * t) * phosphorylation;
        const auto to_aa = epo * a * a, to_ab = epo * a * b, to_bb = epo * b * b;
        const auto aa_in = import_homo * y[2], ab_in = import_hetero * y[3],
                   bb_in = import_homo * y[4];
        const auto aa_out = export_homo * y[5], ab_out = export_hetero * y[6],
                   bb_out = export_homo * y[7];
        constexpr double ratio = nucleus / cytoplasm;
        return eddy::vec(ratio * (2 * aa_out + ab_out) - 2 * to_aa - to_ab,
                         ratio * (ab_out + 2 * bb_out) - to_ab - 2 * to_bb,  //
                         to_aa - aa_in, to_ab - ab_in, to_bb - bb_in,        //
                         aa_in / ratio - aa_out, ab_in / ratio - ab_out, bb_in / ratio - bb_out);
    }
};

inline constexpr double stat5 = 207.6, share_of_a = 0.693;  // at the start, all in the cytoplasm

/// What is measured, in per cent: how much of STAT5A and of STAT5B is phosphorylated, and STAT5A's
/// share of all STAT5.
inline constexpr int num_observables = 3;
struct MassSpectrometry {
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        constexpr double specificity = 0.107;
        const auto a = specificity * y[0], b = (1 - specificity) * y[1];
        const auto aa = 2 * specificity * y[2], bb = 2 * (1 - specificity) * y[4];
        const auto &ab = y[3], of_a = ab + a + aa, of_b = ab + b + bb;
        return eddy::vec(100 * (ab + aa) / of_a, 100 * (ab + bb) / of_b,
                         100 * of_a / (of_a + of_b));
    }
};

/// One term of the negative log-likelihood: Gaussian noise of standard deviations p[6], p[7], p[8].
struct NegativeLogLikelihood {
    static constexpr int data_size = num_observables;
    constexpr auto operator()(auto t, const auto& y, const auto& p, const auto& data) const {
        using std::log;
        const auto expected = MassSpectrometry{}(t, y, p);
        const auto a = (expected[0] - data[0]) / p[6], b = (expected[1] - data[1]) / p[7],
                   share = (expected[2] - data[2]) / p[8];
        return 0.5 * (a * a + b * b + share * share) + log(p[6] * p[7] * p[8]) +
               num_observables * half_log_two_pi;
    }
    static constexpr double half_log_two_pi = 0.918938533204672742;
};

}  // namespace kinetics
