#pragma once
// Forward and backward halves run by the interpreter, and policies as function pointers.

#include <eddy/ad/remat.hpp>
#include <eddy/ad/split.hpp>

#include "support/lane_arrays.hpp"

namespace support {

template <class Policy>
constexpr eddy::PolicyFunction pointer(Policy) {
    return &eddy::detail::ask<Policy>;
}

struct ValueAndGradient {
    Arrays<double> value, gradient;
    bool operator==(const ValueAndGradient& other) const {
        return same_bits(value, other.value) && same_bits(gradient, other.gradient);
    }
};

/// Runs both halves; `change` is applied to each before.
template <class Change>
ValueAndGradient run_split(const eddy::SplitGraph& split, const Arrays<double>& arguments,
                           const Arrays<double>& cotangents, Change change) {
    Arrays<double> value = eddy::interpret(change(split.forward), arguments);
    Arrays<double> inputs = arguments;
    inputs.emplace_back(0, arguments[0].num_lanes());
    if (split.residual_size > 0) {
        inputs.back() = value.back();
        value.pop_back();
    }
    return {value, eddy::interpret(change(split.backward), joined(inputs, cotangents))};
}
inline ValueAndGradient run_split(const eddy::SplitGraph& split, const Arrays<double>& arguments,
                                  const Arrays<double>& cotangents) {
    return run_split(split, arguments, cotangents, [](const eddy::Graph& graph) { return graph; });
}

}  // namespace support
