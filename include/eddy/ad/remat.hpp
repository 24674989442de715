#pragma once
// Rematerialisation. `remat(f, policy)` is f, but of what happens inside, only what the policy
// allows is kept for the way back; the rest is recomputed there. It can be called inside a traced
// function, and nested: a chain of n halved recursively keeps O(log n) values alive on the way
// back, at O(n log n) work (recursive checkpointing; Siskind & Pearlmutter 2018, Optim. Methods
// Softw. 33). The gradient is the same, bit for bit, whatever the policy.
// Test: tests/ad/remat.cpp, tests/ad/random_remat.cpp

#include <eddy/ad/differentiable.hpp>
#include <eddy/ad/policies.hpp>
#include <eddy/trace/functions.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

namespace detail {

/// Traced values, masks, and Vecs of traced scalars.
template <class T>
inline constexpr bool may_have_graph = is_traced_vec<T> || requires(const T& x) {
    x.graph();
};

/// Pulls a function back where its value is known already: evaluates it again as far as that needs.
template <class Function>
struct PullsBackAgain {
    Function function;

    template <class Cotangent, class... Inputs>
    [[nodiscard]] auto pull_back(const Cotangent& cotangent, const Inputs&... x) const {
        return pull_back_at(function, cotangent, x...);
    }
};
/// The value, and what pulls back there later: the function, or what it says itself by
/// `evaluate_and_note(x...)`, which returns a std::pair of both.
template <class Function, class... Inputs>
[[nodiscard]] auto evaluate_and_note(const Function& function, const Inputs&... x) {
    if constexpr (requires { function.evaluate_and_note(x...); }) {
        return function.evaluate_and_note(x...);
    } else {
        auto value = function(x...);
        return std::pair{std::move(value), PullsBackAgain<Function>{function}};
    }
}

/// A value, and what it was computed from.
template <class Value, class PullsBack, class... Inputs>
struct RematLinearization {
    Value value;
    PullsBack again;
    std::tuple<Inputs...> inputs;

    template <class Cotangent>
    [[nodiscard]] auto pullback(const Cotangent& cotangent) const {
        return std::apply([&](const Inputs&... x) { return again.pull_back(cotangent, x...); },
                          inputs);
    }
    Value take_value() { return std::move(value); }
};

template <class Function>
inline constexpr bool is_program = false;
template <class Recipe>
inline constexpr bool is_program<Program<Recipe>> = true;

}  // namespace detail

/// f, whose interior is recomputed on the way back but for what Policy keeps.
template <class Function, class Policy>
struct Remat {
    [[no_unique_address]] Function function;
    [[no_unique_address]] Policy policy{};

    template <class... Arguments>
    constexpr auto operator()(const Arguments&... arguments) const {
        if constexpr ((detail::may_have_graph<Arguments> || ...)) {
            Graph* found = detail::common_graph(arguments...);
            if (found == nullptr) return function(arguments...);  // literals only
            Graph& graph = *found;
            const int outer = graph.current_region;
            graph.regions.push_back({.parent = outer});
            graph.current_region = static_cast<int>(graph.regions.size()) - 1;
            detail::set_policy(graph, graph.current_region, policy);
            auto result = function(arguments...);
            graph.current_region = outer;
            return result;
        } else {
            return function(arguments...);
        }
    }

    /// Of a program the linearization keeps what the policy allows. Of another Differentiable (a
    /// loop, a scan, a solve) it keeps only what goes in, whatever the policy: there is nothing in it
    /// to choose from. What is passed by rvalue is moved.
    template <class... Inputs>
    [[nodiscard]] auto linearize(Inputs&&... x) const {
        if constexpr (detail::is_program<Function>) {
            return DifferentiableProgram<Function, Policy>{}.linearize(std::forward<Inputs>(x)...);
        } else {
            static_assert(
                Differentiable<Function, std::remove_cvref_t<Inputs>...>,
                "remat: the function must be Differentiable on these inputs: a traced program, or "
                "function(x...) and function.linearize(x...) with value and pullback");
            auto noted = detail::evaluate_and_note(function, std::as_const(x)...);
            using Noted = decltype(noted);
            return detail::RematLinearization<typename Noted::first_type,
                                              typename Noted::second_type,
                                              std::remove_cvref_t<Inputs>...>{
                std::move(noted.first), std::move(noted.second), {std::forward<Inputs>(x)...}};
        }
    }

    /// The pullback without the value, see Composition.
    template <class Cotangent, class... Inputs>
    [[nodiscard]] auto pullback_at(const Cotangent& cotangent, Inputs&&... x) const {
        if constexpr (detail::is_program<Function>) {
            return DifferentiableProgram<Function, Policy>{}.pullback_at(cotangent, x...);
        } else {
            return detail::pull_back_at(function, cotangent, std::forward<Inputs>(x)...);
        }
    }
};

/// Rematerialisation (gradient checkpointing): wraps `function` so that only values that the policy
/// allows are kept for the backward pass. The rest is recomputed there. The default policy keeps
/// only the arguments. The gradient is the same, bit for bit, under every policy.
template <class Function, class Policy = detail::NothingSaveable>
[[nodiscard]] constexpr auto remat(Function function, Policy policy = {}) {
    return Remat<Function, Policy>{std::move(function), std::move(policy)};
}
/// The same under a policy with values, which a trace at compile time takes as a template argument:
/// `remat<Policy{5}>(f)`.
template <auto policy, class Function>
[[nodiscard]] constexpr auto remat(Function function) {
    return remat(std::move(function), detail::PolicyValue<policy>{});
}

/// `remat`, as jax.checkpoint and torch.utils.checkpoint call it.
template <class Function, class Policy = detail::NothingSaveable>
[[nodiscard]] constexpr auto checkpoint(Function function, Policy policy = {}) {
    return remat(std::move(function), std::move(policy));
}

}  // namespace eddy::inline v0
