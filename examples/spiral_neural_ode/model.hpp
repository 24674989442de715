#pragma once
// The model: a network on the cubes of the state, as in the demonstration of Chen et al. 2018
// (arXiv:1806.07366), and how far it is from the data.

#include <eddy/eddy.hpp>

/// What the samples come from: y' = A y³, a slow spiral into the origin.
struct Spiral {
    static constexpr int state_size = 2, parameter_size = 0;
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        const auto c = y * y * y;
        return eddy::vec(-0.1 * c[0] + 2.0 * c[1], -2.0 * c[0] - 0.1 * c[1]);
    }
};

inline constexpr auto network = eddy::nn::mlp<2, 50, 2>(eddy::nn::tanh);

struct Flow {
    static constexpr int state_size = 2, parameter_size = network.parameter_size;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return network(y * y * y, p);
    }
};

struct SquaredError {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r);
    }
};
