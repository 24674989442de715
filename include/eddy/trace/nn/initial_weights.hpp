#pragma once
// First weights of networks, by name: uniform or normal, scaled so that signals keep their size through the
// layers, forward and back (Glorot & Bengio 2010, AISTATS 9, 249–256, eq. 16; He et al. 2015, ICCV,
// arXiv:1502.01852, eq. 10, for relu). Biases are zero. A weight is a function of the seed and of its place
// in the parameter vector alone.
// Test: tests/trace/networks.cpp

#include <cmath>
#include <cstdint>
#include <eddy/core/random/normal.hpp>
#include <eddy/trace/nn/mlp.hpp>
#include <vector>

namespace eddy::inline v0 {
namespace detail {

/// Word or normal number `place` of a seed.
[[nodiscard]] inline PhiloxWords<std::uint32_t> words_of_weight(std::uint64_t seed, int place) {
    return philox(PhiloxWords<std::uint32_t>{{static_cast<std::uint32_t>(place / 4), 0, 0, 0x6e6e}},
                  PhiloxKey(seed));
}
/// Uniform in (−1, 1).
[[nodiscard]] inline double uniform_weight(std::uint64_t seed, int place) {
    return 2. * static_cast<double>(uniform(words_of_weight(seed, place).w[place % 4])) - 1;
}
[[nodiscard]] inline double normal_weight(std::uint64_t seed, int place) {
    return static_cast<double>(normals(words_of_weight(seed, place)).z[place % 4]);
}

/// Weights draw(seed, place) · scale(layer), biases zero.
template <class Real, class Network, class Draw, class Scale>
[[nodiscard]] std::vector<Real> draw_weights(const Network&, std::uint64_t seed, const Draw& draw,
                                             const Scale& scale) {
    std::vector<Real> p(static_cast<std::size_t>(Network::parameter_size), Real(0));
    for (const nn::LayerShape& shape : Network::shapes) {
        for (int k = 0; k < shape.num_weights(); ++k) {
            const int place = shape.first_weight + k;
            p[static_cast<std::size_t>(place)] =
                static_cast<Real>(scale(shape) * draw(seed, place));
        }
    }
    return p;
}

}  // namespace detail

namespace nn {

/// A parameter vector for a network: weights uniform within ±√(6 / (inputs + outputs)), for tanh,
/// sigmoid and softplus.
template <class Real, class Network>
[[nodiscard]] std::vector<Real> glorot_uniform(const Network& network, std::uint64_t seed) {
    return detail::draw_weights<Real>(network, seed, detail::uniform_weight, [](const auto& shape) {
        return std::sqrt(6. / (shape.num_inputs + shape.num_outputs));
    });
}
/// A parameter vector for a network: weights normal with variance 2 / (inputs + outputs).
template <class Real, class Network>
[[nodiscard]] std::vector<Real> glorot_normal(const Network& network, std::uint64_t seed) {
    return detail::draw_weights<Real>(network, seed, detail::normal_weight, [](const auto& shape) {
        return std::sqrt(2. / (shape.num_inputs + shape.num_outputs));
    });
}
/// A parameter vector for a network: weights uniform within ±√(6 / inputs), for relu, silu and
/// gelu.
template <class Real, class Network>
[[nodiscard]] std::vector<Real> kaiming_uniform(const Network& network, std::uint64_t seed) {
    return detail::draw_weights<Real>(network, seed, detail::uniform_weight, [](const auto& shape) {
        return std::sqrt(6. / shape.num_inputs);
    });
}
/// A parameter vector for a network: weights normal with variance 2 / inputs.
template <class Real, class Network>
[[nodiscard]] std::vector<Real> kaiming_normal(const Network& network, std::uint64_t seed) {
    return detail::draw_weights<Real>(network, seed, detail::normal_weight, [](const auto& shape) {
        return std::sqrt(2. / shape.num_inputs);
    });
}

}  // namespace nn

}  // namespace eddy::inline v0
