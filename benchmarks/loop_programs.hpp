#pragma once
// What the measurements of loops are about: a chain of cells by `scan`, 64 layers by `repeat` and written out,
// turns that are uneven between lanes.

#include <eddy/eddy.hpp>

namespace programs {

/// Reaction and diffusion in a chain of cells.
template <int cells>
struct Chain {
    constexpr auto operator()(const auto& y, const auto& p) const {
        const auto right = eddy::concat(eddy::slice<1, cells - 1>(y), y[cells - 1]);
        return eddy::scan<cells>(eddy::vec(y[0] * 1.0, y[0] * 1.0), right,
                                 [&](const auto& s, const auto& next) {
                                     const auto rate =
                                         p[0] * (s[0] - 2 * s[1] + next) + p[1] * s[1] * (1 - s[1]);
                                     return eddy::carry_and_out(eddy::vec(s[1], next), rate);
                                 })
            .outs;
    }
};
/// The same as a field.
template <int cells>
struct ChainField {
    static constexpr int state_size = cells, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return Chain<cells>{}(y, p);
    }
};
template <int cells>
constexpr auto chain = eddy::trace<eddy::Vector<cells>, eddy::Vector<2>>(Chain<cells>{});

/// Layers x ← tanh(W x + b) of width 8, one W: one body, with recomputation by nested lengths.
template <int count, int... lengths>
struct Layers {
    static constexpr auto layer_of(const auto& w) {
        return [&w](const auto& x) {
            return tanh(eddy::dense(eddy::slice<0, 64>(w), eddy::slice<64, 8>(w), x));
        };
    }
    constexpr auto operator()(const auto& x, const auto& w) const {
        return eddy::repeat<count>(x, layer_of(w), {.nested_lengths = {lengths...}});
    }
};
/// The same, layer after layer.
template <int count>
struct LayersWrittenOut {
    template <int layers>
    static constexpr auto apply(const auto& x, const auto& layer) {
        if constexpr (layers == 0)
            return x * 1.0;
        else
            return apply<layers - 1>(layer(x), layer);
    }
    constexpr auto operator()(const auto& x, const auto& w) const {
        const auto layer = Layers<count>::layer_of(w);
        return apply<count - 1>(layer(x), layer);
    }
};
template <class Network>
constexpr auto traced = eddy::trace<eddy::Vector<8>, eddy::Vector<72>>(Network{});

/// Takes ⌈x⌉ turns.
struct UnevenTurns {
    constexpr auto operator()(const auto& x, const auto& p) const {
        const auto [left, y] = eddy::bounded_while<30>(
            std::tuple(x, p), [](const auto& s) { return std::get<0>(s) > 0; },
            [&](const auto& s) {
                const auto& [left, y] = s;
                return std::tuple(left - 1, sin(y) + p * cos(y));
            });
        return y + 0 * left;
    }
};
constexpr auto uneven = eddy::trace<eddy::Scalar, eddy::Scalar>(UnevenTurns{});

}  // namespace programs
