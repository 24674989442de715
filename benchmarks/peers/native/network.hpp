#pragma once
// The network of cases 5 and 12, with the weights that arms/neural.py wrote: W1, b1, W2, b2, W3, b3.

#include "eddy_arm.hpp"

namespace peers {

struct Network {
    static constexpr int width = 64, first = 2 * width + width, second = width * width + width,
                         third = 2 * width + 2;
    static constexpr int state_size = 2, parameter_size = first + second + third;

    template <int begin, int rows, int columns>
    static constexpr auto layer(const auto& x, const auto& p) {
        return eddy::dense(eddy::slice<begin, rows * columns>(p),
                           eddy::slice<begin + rows * columns, rows>(p), x);
    }
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto h1 = eddy::tanh(layer<0, width, 2>(y, p));
        const auto h2 = eddy::tanh(layer<first, width, width>(h1, p));
        return layer<first + second, 2, width>(h2, p);
    }
};

/// All numbers of a file of the case's inputs.
inline std::vector<double> numbers_of(const Options& options, const std::string& name) {
    std::ifstream stream(options.text("inputs") + "/" + name, std::ios::binary);
    std::vector<double> numbers;
    for (double x = 0; stream.read(reinterpret_cast<char*>(&x), sizeof x);) numbers.push_back(x);
    return numbers;
}
template <class Real>
std::vector<Real> weights_of(const Options& options) {
    const std::vector<double> numbers = numbers_of(options, "p");
    if (numbers.size() != static_cast<std::size_t>(Network::parameter_size))
        throw std::runtime_error("weights of another network");
    return {numbers.begin(), numbers.end()};
}
/// The gradient with respect to the weights.
inline std::vector<double> gradient_of_weights(const auto& gradient) {
    std::vector<double> values;
    for (int i = 0; i < Network::parameter_size; ++i)
        values.push_back(static_cast<double>(gradient.p(0, i)));
    return values;
}

}  // namespace peers
