#pragma once
// Hares and lynxes by the logarithms of their counts, u and v: u' = a − eaten(u, v), v' = fed(u, v) − d. What
// they do to each other is either the law of Lotka and Volterra or has rates that a network tells: a universal
// differential equation (Rackauckas et al. 2020, arXiv:2001.04385).

#include <eddy/eddy.hpp>
#include <vector>

/// Each hare meets lynxes, and each lynx hares, as often as there are: b e^v and c e^u.
struct MassAction {
    static constexpr int parameter_size = 2;
    static std::vector<double> first_weights() { return {-3.5, -3.5}; }
    static void for_weights(const auto&) {}
    constexpr auto operator()(const auto& y, const auto& p) const {
        using eddy::exp;
        return eddy::vec(exp(p[0] + y[1]), exp(p[1] + y[0]));
    }
};

/// As often at a rate that a network tells from both counts. Without weights it is the law: its last biases are
/// then log b and log c. Its inputs are about zero.
struct Unknown {
    static constexpr auto network = eddy::nn::mlp<2, 6, 2>(eddy::nn::tanh);
    static constexpr int parameter_size = network.parameter_size;
    constexpr auto operator()(const auto& y, const auto& p) const {
        const auto log_rate = network(y - 3.0, p);
        return eddy::exp(eddy::vec(log_rate[0] + y[1], log_rate[1] + y[0]));
    }
    /// Small weights, and biases of the usual size.
    static std::vector<double> first_weights() {
        std::vector<double> p = eddy::nn::glorot_normal<double>(network, 1);
        const auto last = network.layers(std::span(p)).back();
        for (double& weight : last.weight) weight *= 0.1;
        for (double& bias : last.bias) bias = -3.5;
        return p;
    }
    /// The weights, without biases, for what holds them small.
    template <class Visit>
    static void for_weights(const Visit& visit) {
        for (const auto& layer : network.shapes)
            for (int i = 0; i < layer.num_weights(); ++i) visit(layer.first_weight + i);
    }
};

/// Parameters: log a, log d, those of the interaction.
template <class Interaction_>
struct Populations {
    using Interaction = Interaction_;
    static constexpr int state_size = 2, parameter_size = 2 + Interaction::parameter_size;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        using eddy::exp;
        const auto met = Interaction{}(y, eddy::slice<2, Interaction::parameter_size>(p));
        return eddy::vec(exp(p[0]) - met[0], met[1] - exp(p[1]));
    }
};

struct SquaredError {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
        const auto r = y - data;
        return eddy::dot(r, r);
    }
};
