#pragma once
// A multilayer perceptron: dense layers with an activation after each but the last. It is a function of a
// vector and of its weights, for use inside a field, and a field itself. The weights of all layers are one
// parameter vector: of each layer the matrix, row-major, (output, input) as in PyTorch, then the bias.
// Each layer is one node of the program, whatever its width.
// Test: tests/trace/networks.cpp

#include <array>
#include <eddy/trace/nn/activations.hpp>
#include <span>
#include <string>
#include <type_traits>

namespace eddy::inline v0::nn {

/// One layer of a parameter vector.
struct LayerShape {
    int num_inputs, num_outputs;
    int first_weight, first_bias;  // in the parameter vector

    [[nodiscard]] constexpr int num_weights() const { return num_inputs * num_outputs; }
};

/// One layer's numbers, where they are.
template <class Real>
struct LayerView {
    LayerShape shape;
    std::string name;  ///< "layers.0", …: its arrays are "layers.0.weight" and "layers.0.bias"
    std::span<Real> weight;  ///< (output, input), row-major
    std::span<Real> bias;    ///< (output)

    [[nodiscard]] Real& operator()(int output, int input) const {
        return weight[static_cast<std::size_t>(output * shape.num_inputs + input)];
    }
};

/// Of mlp<2, 64, 64, 2>(nn::tanh) the type, Perceptron<Tanh, 2, 64, 64, 2>: two inputs, two hidden layers of
/// 64, two outputs. As a field its state has as many components as there are outputs; with one input more, t
/// comes last.
template <class Activation, int... size>
struct Perceptron {
    static_assert(
        sizeof...(size) >= 2 && ((size > 0) && ...),
        "nn::mlp: give the numbers of inputs, of hidden units and of outputs, all positive");

  private:
    static constexpr std::array<int, sizeof...(size)> sizes{size...};

  public:
    static constexpr int num_layers = static_cast<int>(sizeof...(size)) - 1;
    static constexpr int num_inputs = sizes.front(), num_outputs = sizes.back();
    static constexpr std::array<LayerShape, sizeof...(size) - 1> shapes = [] {
        std::array<LayerShape, sizeof...(size) - 1> shape{};
        int next = 0;
        for (std::size_t k = 0; k < shape.size(); ++k) {
            const int weights = sizes[k] * sizes[k + 1];
            shape[k] = {sizes[k], sizes[k + 1], next, next + weights};
            next += weights + sizes[k + 1];
        }
        return shape;
    }();
    static constexpr int state_size = num_outputs;
    static constexpr int parameter_size = shapes.back().first_bias + num_outputs;

    /// The network's value at x, with the weights p: vectors of num_inputs and parameter_size components.
    template <class X, class P>
    [[nodiscard]] constexpr auto operator()(const X& x, const P& p) const {
        return layers_from<0>(x, p);
    }
    /// dy/dt.
    template <class Time, class State, class P>
    [[nodiscard]] constexpr auto operator()(const Time& t, const State& y, const P& p) const {
        static_assert(num_inputs == num_outputs || num_inputs == num_outputs + 1,
                      "nn::mlp: as a field it has as many inputs as outputs, or one more, for t");
        if constexpr (num_inputs == num_outputs)
            return layers_from<0>(y, p);
        else
            return layers_from<0>(concat(y, t), p);
    }

    /// What its weights are for, "mlp(tanh)", beside the sizes that they tell themselves; empty where the
    /// activation has no name.
    [[nodiscard]] static std::string kind() {
        if constexpr (requires { std::string(Activation::name); })
            return "mlp(" + std::string(Activation::name) + ")";
        else
            return {};
    }
    /// The layers of a parameter vector, to look at and to write to.
    template <class Real>
    [[nodiscard]] static std::array<LayerView<Real>, sizeof...(size) - 1> layers(
        std::span<Real> p) {
        std::array<LayerView<Real>, sizeof...(size) - 1> views;
        for (std::size_t k = 0; k < views.size(); ++k) {
            const LayerShape& shape = shapes[k];
            const auto part = [&](int first, int count) {
                return p.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
            };
            views[k] = {shape, "layers." + std::to_string(k),
                        part(shape.first_weight, shape.num_weights()),
                        part(shape.first_bias, shape.num_outputs)};
        }
        return views;
    }

  private:
    template <int k, class X, class P>
    [[nodiscard]] static constexpr auto layers_from(const X& x, const P& p) {
        constexpr LayerShape shape = shapes[k];
        const auto y = dense(slice<shape.first_weight, shape.num_weights()>(p),
                             slice<shape.first_bias, shape.num_outputs>(p), x);
        if constexpr (k + 1 < num_layers)
            return layers_from<k + 1>(Activation{}(y), p);
        else
            return y;
    }
};

/// A multilayer perceptron of these sizes with this activation after each layer except the last:
/// `mlp<2, 64, 64, 2>(nn::tanh)`.
template <int... size, class Activation>
[[nodiscard]] constexpr Perceptron<Activation, size...> mlp(const Activation&) {
    return {};
}

/// A multilayer perceptron with tanh after each layer except the last: `Mlp<2, 64, 64, 2>{}`. `Mlp`
/// always has tanh; for another activation write `mlp<2, 64, 64, 2>(nn::relu)`.
template <int... size>
struct Mlp : Perceptron<Tanh, size...> {
    Mlp() = default;
    explicit constexpr Mlp(const Tanh&) {}
    template <class Other>
    explicit constexpr Mlp(const Other&) {
        static_assert(!std::is_function_v<Other>,
                      "nn::Mlp: that is a function of the C library; write nn::tanh");
        static_assert(std::is_function_v<Other> || sizeof...(size) == 0,
                      "nn::Mlp: Mlp<sizes...>{nn::tanh} is the network with tanh; write "
                      "nn::mlp<sizes...>(activation) for one with another activation");
    }
    /// Of a name that stands for several functions, as `tanh` does after `using std::tanh`.
    explicit constexpr Mlp(double (*)(double)) {
        static_assert(sizeof...(size) == 0,
                      "nn::Mlp: that is a function of the C library; write nn::tanh");
    }
};

/// x + f(x, p): a residual layer around a network with as many outputs as inputs. `Residual<Network>`, or
/// residual(network).
template <class Network>
struct Residual {
    static_assert(Network::num_inputs == Network::num_outputs,
                  "nn::Residual: the network needs as many outputs as inputs");
    static constexpr int num_inputs = Network::num_inputs, num_outputs = Network::num_outputs;
    static constexpr int state_size = num_outputs, parameter_size = Network::parameter_size;
    static constexpr auto shapes = Network::shapes;

    template <class X, class P>
    [[nodiscard]] constexpr auto operator()(const X& x, const P& p) const {
        return x + Network{}(x, p);
    }
    template <class Time, class State, class P>
    [[nodiscard]] constexpr auto operator()(const Time&, const State& y, const P& p) const {
        return (*this)(y, p);
    }
    [[nodiscard]] static std::string kind() {
        const std::string of_network = Network::kind();
        return of_network.empty() ? "" : "residual(" + of_network + ")";
    }
    template <class Real>
    [[nodiscard]] static auto layers(std::span<Real> p) {
        return Network::layers(p);
    }
};
/// A residual network: the output of the network plus its input.
template <class Network>
[[nodiscard]] constexpr Residual<Network> residual(const Network&) {
    return {};
}

}  // namespace eddy::inline v0::nn
