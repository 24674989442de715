#pragma once
// The model of the rate, and its transitions from one observation to the next, by paths that are led
// to the next and weighted for it.

#include <eddy/eddy.hpp>
#include <numbers>

namespace short_rate {

/// Chan, Karolyi, Longstaff & Sanders 1992, J. Finance 47(3), 1209: dr = (a + b r) dt + s r^g dW.
/// y = (r), a fraction a year; p = (a, b, log s, g).
struct Ckls {
    static constexpr int state_size = 1, parameter_size = 4;
    static constexpr auto calculus = eddy::ito;
    /// Noise does not fall further below this rate, a hundredth of a per cent: Euler's steps may
    /// cross zero.
    static constexpr double least_rate = 1e-4;

    static constexpr auto trend(const auto& r, const auto& p) { return p[0] + p[1] * r; }
    static constexpr auto volatility(const auto& r, const auto& p) {
        return eddy::exp(p[2] + p[3] * eddy::log(eddy::max(r, least_rate)));
    }
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(trend(y[0], p));
    }
    constexpr auto diffusion(auto, const auto& y, const auto& p) const {
        return eddy::vec(volatility(y[0], p));
    }
};

/// A path from one observation to the next, p[4] at time p[5]: it drifts straight there. y[1] is the
/// logarithm of how much likelier its steps are by the model: with the pull u in units of the noise,
/// Euler's steps have the ratio exp(−u ΔW − u² h / 2), to the last digit (Delyon & Hu 2006, Stoch.
/// Proc. Appl. 116, 1660).
struct Bridge {
    static constexpr int state_size = 2, parameter_size = 7, noise_size = 1;
    static constexpr auto calculus = eddy::ito;

    static constexpr auto slope(const auto& t, const auto& r, const auto& p) {
        return (p[4] - r) / (p[5] - t);
    }
    static constexpr auto pull(const auto& t, const auto& r, const auto& p) {
        return (slope(t, r, p) - Ckls::trend(r, p)) / Ckls::volatility(r, p);
    }
    constexpr auto drift(auto t, const auto& y, const auto& p) const {
        const auto u = pull(t, y[0], p);
        return eddy::vec(slope(t, y[0], p), -0.5 * u * u);
    }
    constexpr auto diffusion(auto t, const auto& y, const auto& p) const {
        return eddy::vec(Ckls::volatility(y[0], p), -1. * pull(t, y[0], p));
    }
};

/// The density of the model's last step, of length p[6], to p[4], times the weight. Its mean over all
/// paths is the density of the transition (Durham & Gallant 2002, J. Bus. Econ. Stat. 20(3), 297).
struct WeightedDensity {
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto deviation = Ckls::volatility(y[0], p) * eddy::sqrt(p[6]);
        const auto z = (p[4] - y[0] - Ckls::trend(y[0], p) * p[6]) / deviation;
        constexpr double root_2_pi = std::numbers::sqrt2 / std::numbers::inv_sqrtpi;
        return eddy::exp(y[1] - 0.5 * z * z) / (deviation * root_2_pi);
    }
};

}  // namespace short_rate
