#pragma once
// Activation functions of neural networks, as objects that a network is made with. Each works on numbers
// and on vectors, component by component, traced or plain; what they compute is in core/logistic.hpp and
// docs/design/semantics.md. Those with a name tell it in files of weights.
// Test: tests/trace/networks.cpp

#include <eddy/core/logistic.hpp>
#include <eddy/trace/functions.hpp>
#include <string_view>

namespace eddy::inline v0::nn {

#define EDDY_ACTIVATION(Name, function)                                                            \
    struct Name {                                                                                  \
        static constexpr std::string_view name = #function;                                        \
        [[nodiscard]] constexpr auto operator()(const auto& x) const { return eddy::function(x); } \
    };                                                                                             \
    inline constexpr Name function;
EDDY_ACTIVATION(Tanh, tanh)
EDDY_ACTIVATION(Softplus, softplus)
EDDY_ACTIVATION(Relu, relu)
EDDY_ACTIVATION(Silu, silu)
EDDY_ACTIVATION(Gelu, gelu)
EDDY_ACTIVATION(Sigmoid, sigmoid)
EDDY_ACTIVATION(Sin, sin)
#undef EDDY_ACTIVATION

/// The identity as an activation: layers without one.
struct Identity {
    static constexpr std::string_view name = "identity";
    [[nodiscard]] constexpr auto operator()(const auto& x) const { return x; }
};
inline constexpr Identity identity;

}  // namespace eddy::inline v0::nn
