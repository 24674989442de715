#pragma once
// Rematerialisation. `remat(f, policy)` is f, but of what happens inside, only what the policy
// allows is kept for the way back; the rest is recomputed there. It can be called inside a traced
// function, and nested: a chain of n halved recursively keeps O(log n) values alive on the way
// back, at O(n log n) work (recursive checkpointing; Siskind & Pearlmutter 2018, Optim. Methods
// Softw. 33). The gradient is the same, bit for bit, whatever the policy.

#include <eddy/ad/differentiable.hpp>
#include <eddy/ad/policies.hpp>
#include <eddy/trace/functions.hpp>
#include <tuple>
#include <type_traits>

namespace eddy::inline v0 {

namespace detail {

template <class Policy>
constexpr eddy::Saving ask(const Candidate& value) {
    return Policy{}(value);
}

/// Traced values, masks, and Vecs of traced scalars.
template <class T>
inline constexpr bool may_have_graph = is_traced_vec<T> || requires(const T& x) {
    x.graph();
};

/// A value, and what it was computed from: the way back begins by computing it again.
template <class Function, class Value, class... Inputs>
struct RematLinearization {
    Value value;
    Function function;
    std::tuple<Inputs...> inputs;

    template <class Cotangent>
    [[nodiscard]] auto pullback(const Cotangent& cotangent) const {
        return std::apply(
            [&](const Inputs&... x) { return function.linearize(x...).pullback(cotangent); },
            inputs);
    }
};

}  // namespace detail

/// f, whose interior is recomputed on the way back but for what Policy keeps.
template <class Function, class Policy>
struct Remat {
    [[no_unique_address]] Function function;

    template <class... Arguments>
    constexpr auto operator()(const Arguments&... arguments) const {
        if constexpr ((detail::may_have_graph<Arguments> || ...)) {
            Graph* found = detail::common_graph(arguments...);
            if (found == nullptr) return function(arguments...);  // literals only
            Graph& graph = *found;
            const int outer = graph.current_region;
            graph.regions.push_back({outer, &detail::ask<Policy>});
            graph.current_region = static_cast<int>(graph.regions.size()) - 1;
            auto result = function(arguments...);
            graph.current_region = outer;
            return result;
        } else {
            return function(arguments...);
        }
    }

    /// Of a Differentiable that is no program (a loop, a scan, a solve) nothing is kept but what goes
    /// in, whatever the policy: there is nothing in it to choose from.
    template <class... Inputs>
    [[nodiscard]] auto linearize(const Inputs&... x) const {
        static_assert(Differentiable<Function, Inputs...>,
                      "remat: the function must be Differentiable on these inputs: function(x...), "
                      "and function.linearize(x...) with value and pullback");
        using Value = std::remove_cvref_t<decltype(function(x...))>;
        return detail::RematLinearization<Function, Value, Inputs...>{
            function(x...), function, {x...}};
    }
};

/// Rematerialisation (gradient checkpointing): wraps `function` so that only values that the policy
/// allows are kept for the backward pass. The rest is recomputed there. The default policy keeps
/// only the arguments. The gradient is the same, bit for bit, under every policy.
template <class Function, class Policy = detail::NothingSaveable>
[[nodiscard]] constexpr auto remat(Function function, Policy = {}) {
    static_assert(std::is_empty_v<Policy> && std::is_default_constructible_v<Policy>,
                  "remat: the policy must be an empty type, such as eddy::dots_saveable or a "
                  "captureless lambda");
    return Remat<Function, Policy>{function};
}

}  // namespace eddy::inline v0
