#pragma once
// Hares and lynxes by the logarithms of their counts, u and v: u' = a − eaten(u, v), v' = fed(u, v) − d. What
// they do to each other is either the law of Lotka and Volterra or a network: a universal differential
// equation (Rackauckas et al. 2020, arXiv:2001.04385).

#include <eddy/eddy.hpp>

/// Each hare meets lynxes, and each lynx hares, as often as there are: b e^v and c e^u.
struct MassAction {
    static constexpr int parameter_size = 2;
    constexpr auto operator()(const auto& y, const auto& p) const {
        using eddy::exp;
        return eddy::vec(exp(p[0] + y[1]), exp(p[1] + y[0]));
    }
};

/// Both from a network that knows nothing but that they are positive. Its inputs are about zero.
struct Unknown {
    static constexpr auto network = eddy::nn::mlp<2, 6, 2>(eddy::nn::tanh);
    static constexpr int parameter_size = network.parameter_size;
    constexpr auto operator()(const auto& y, const auto& p) const {
        return eddy::exp(network(y - 3.0, p));
    }
};

/// Parameters: log a, log d, those of the interaction.
template <class Interaction>
struct Populations {
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
