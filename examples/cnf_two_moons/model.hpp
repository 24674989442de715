#pragma once
// A density by a flow that is learned: a continuous normalizing flow (Chen et al. 2018, arXiv:1806.07366). It
// takes samples from t = 0 to t = 1, where they are to be normally distributed; on the way the state gathers
// the flow's divergence, by which the logarithm of the density changes.

#include <eddy/eddy.hpp>

inline constexpr auto network = eddy::nn::mlp<3, 32, 32, 2>(eddy::nn::tanh);  // of y and t

/// The state: two components, the integral of the divergence, that of the squared speed.
using Flow = decltype(eddy::nn::accumulate<eddy::nn::Divergence, eddy::nn::KineticEnergy>(network));

/// The logarithm of the density at a sample, from where the flow has brought it.
constexpr auto log_density(const auto& y) {
    constexpr double log_two_pi = 1.83787706640934548;
    return y[2] - 0.5 * (y[0] * y[0] + y[1] * y[1]) - log_two_pi;
}

/// What is minimised: −log likelihood, and a little of the energy, which keeps the flow simple.
struct Loss {
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        return 0.002 * y[3] - log_density(y);
    }
};
