#pragma once
// Programs as Differentiables. `differentiable(program)` evaluates like the program;
// `linearize(x...)` runs its forward half, which keeps the residuals, and returns the value with a
// pullback that runs the backward half. What is kept follows the policy given here and those of the
// `remat` calls inside the program (ad/split.hpp).
// Test: tests/ad/linearize.cpp

#include <eddy/ad/differentiable.hpp>
#include <eddy/ad/remat.hpp>
#include <eddy/ad/split.hpp>
#include <eddy/ad/vjp.hpp>
#include <eddy/trace/evaluate.hpp>
#include <tuple>

namespace eddy::inline v0 {
namespace detail {

/// What a program returns, as a tuple: a single result is the only one of it.
template <class T>
constexpr std::tuple<T> as_tuple(const T& result) {
    return std::tuple<T>(result);
}
template <class... T>
constexpr std::tuple<T...> as_tuple(const std::tuple<T...>& results) {
    return results;
}

enum class Half { forward, backward };

/// Both halves of a program as constants, which one split gives.
template <GraphSizes forward_room, GraphSizes backward_room>
struct StaticHalves {
    StaticGraph<forward_room> forward;
    StaticGraph<backward_room> backward;
};
template <class P, class Policy, int... argument>
struct SplitHalves {
    template <GraphSizes forward_room, GraphSizes backward_room>
    static constexpr StaticHalves<forward_room, backward_room> build() {
        const Graph graph = P::graph.thaw();
        const SplitGraph split = split_graph(graph, argument_flags<argument...>(graph), Policy{});
        return {copy_graph<forward_room>(split.forward, sizes_of(split.forward)),
                copy_graph<backward_room>(split.backward, sizes_of(split.backward))};
    }
    /// `times` the nodes of the program, and what it has else.
    static constexpr GraphSizes room(int times) {
        GraphSizes sizes = P::graph.sizes;
        sizes.nodes = times * sizes.nodes + 64;
        sizes.operands = 2 * sizes.nodes;
        sizes.constants += 64;
        sizes.arguments += 8;
        sizes.outputs += 8;
        sizes.loops = 4 * sizes.loops;
        return sizes;
    }
    static constexpr auto make() {
        constexpr GraphSizes forward_room = room(2), backward_room = room(6);
        constexpr auto buffer = build<forward_room, backward_room>();
        constexpr GraphSizes forward = buffer.forward.sizes, backward = buffer.backward.sizes;
        if constexpr (forward.fit_in(forward_room) && backward.fit_in(backward_room)) {
            return StaticHalves<forward, backward>{copy_graph<forward>(buffer.forward, forward),
                                                   copy_graph<backward>(buffer.backward, backward)};
        } else {
            return build<forward, backward>();
        }
    }
    static constexpr auto halves = make();
};

template <Half half, class P, class Policy, int... argument>
struct SplitOf {
    static constexpr auto& frozen() {
        if constexpr (half == Half::forward) {
            return SplitHalves<P, Policy, argument...>::halves.forward;
        } else {
            return SplitHalves<P, Policy, argument...>::halves.backward;
        }
    }
    static constexpr GraphSizes expected_sizes = frozen().sizes;
    static constexpr Graph make() { return frozen().thaw(); }
    /// Both halves are contracted already; doing so again, apart, would make their arithmetic
    /// depend on the policy.
    static constexpr Graph finish(const Graph& graph) { return graph; }
};

/// The cotangents that a backward half computes, each in the form of its argument.
template <class... Arguments, class Cotangents, Half half, class P, class Policy, int... argument>
[[nodiscard]] constexpr auto in_form_of_arguments(
    const Cotangents& cotangents, const Program<SplitOf<half, P, Policy, argument...>>&) {
    return cotangents_in_form<argument...>(cotangents,
                                           static_cast<std::tuple<Arguments...>*>(nullptr));
}
template <class Backward, class Rest, class... Arguments>
[[nodiscard]] constexpr auto run_backward(const Rest& residuals_and_cotangents,
                                          const Arguments&... x) {
    return in_form_of_arguments<Arguments...>(
        std::apply([&](const auto&... rest) { return Backward{}(x..., rest...); },
                   residuals_and_cotangents),
        Backward{});
}

/// A value with what its pullback needs: the arguments, as they were passed, and the residuals.
template <class Backward, class Value, class Residuals, class... Arguments>
struct LinearizedProgram {
    Value value;
    Residuals residuals;
    std::tuple<Arguments...> arguments;

    /// The cotangents of the differentiated arguments (a single one as it is, several as a
    /// std::tuple) from those of the results.
    template <class... Cotangents>
    [[nodiscard]] constexpr auto pullback(const Cotangents&... cotangents) const {
        return std::apply(
            [&](const auto&... x) {
                return run_backward<Backward>(std::tie(residuals, cotangents...), x...);
            },
            arguments);
    }
    /// The same with the cotangents of several results in one std::tuple, as the value is.
    template <class... Cotangents>
    [[nodiscard]] constexpr auto pullback(const std::tuple<Cotangents...>& cotangents) const {
        return std::apply([&](const auto&... cotangent) { return pullback(cotangent...); },
                          cotangents);
    }
};

}  // namespace detail

/// Program P as a Differentiable with respect to the given arguments (all, where none is given).
/// Arguments are copied into a linearization: pass large ones as pointers or views, which must then
/// live as long.
template <class P, class Policy, int... argument>
struct DifferentiableProgram {
    using Forward = Program<detail::SplitOf<detail::Half::forward, P, Policy, argument...>>;
    using Backward = Program<detail::SplitOf<detail::Half::backward, P, Policy, argument...>>;
    /// The number of values that a linearization keeps, beside the arguments.
    static constexpr int num_residuals = Forward::graph.num_outputs() > P::graph.num_outputs()
                                             ? Forward::graph.outputs[P::graph.num_outputs()].size
                                             : 0;

    template <class... Arguments>
    requires(sizeof...(Arguments) == P::graph.num_arguments()) [[nodiscard]] constexpr auto
    operator()(const Arguments&... x) const {
        return P{}(x...);
    }

    template <class... Arguments>
    requires(sizeof...(Arguments) == P::graph.num_arguments())
        [[nodiscard]] constexpr auto linearize(const Arguments&... x) const {
        const auto recorded = record(x...);
        return detail::LinearizedProgram<Backward, std::remove_cvref_t<decltype(recorded.first)>,
                                         std::remove_cvref_t<decltype(recorded.second)>,
                                         Arguments...>{recorded.first, recorded.second, {x...}};
    }

    /// The value and the residuals as a std::pair: a linearization whose arguments are kept elsewhere.
    template <class... Arguments>
    requires(sizeof...(Arguments) == P::graph.num_arguments())
        [[nodiscard]] constexpr auto record(const Arguments&... x) const {
        auto results = detail::as_tuple(Forward{}(x...));
        auto value = detail::in_form_of<typename P::recipe>(first(
            results, std::make_index_sequence<static_cast<std::size_t>(P::graph.num_outputs())>{}));
        if constexpr (num_residuals > 0) {
            return std::pair{value, std::get<std::tuple_size_v<decltype(results)> - 1>(results)};
        } else {
            return std::pair{value, detail::NoComponents{}};
        }
    }

    /// The cotangents of the differentiated arguments from what `record` kept and the arguments, of
    /// which only those that it `reads` are read.
    template <class Residuals, class Cotangent, class... Arguments>
    [[nodiscard]] static constexpr auto pull_recorded(const Residuals& residuals,
                                                      const Cotangent& cotangent,
                                                      const Arguments&... x) {
        return detail::run_backward<Backward>(std::tie(residuals, cotangent), x...);
    }
    template <class Residuals, class... Cotangents, class... Arguments>
    [[nodiscard]] static constexpr auto pull_recorded(const Residuals& residuals,
                                                      const std::tuple<Cotangents...>& cotangents,
                                                      const Arguments&... x) {
        return std::apply(
            [&](const auto&... cotangent) {
                return detail::run_backward<Backward>(std::tie(residuals, cotangent...), x...);
            },
            cotangents);
    }

    /// The cotangents of the differentiated arguments, where neither value nor residuals are at hand:
    /// only what they depend on is computed.
    template <class Cotangent, class... Arguments>
    requires(sizeof...(Arguments) == P::graph.num_arguments())
        [[nodiscard]] constexpr auto pullback_at(const Cotangent& cotangent,
                                                 const Arguments&... x) const {
        using AtOnce = DifferentiableProgram<P, detail::NothingSaveable, argument...>;
        return detail::LinearizedProgram<typename AtOnce::Backward, int, detail::NoComponents,
                                         Arguments...>{0, {}, {x...}}
            .pullback(cotangent);
    }

    /// Does the pullback read the argument, beside the residuals?
    [[nodiscard]] static constexpr bool reads(int index) {
        return reads_argument(Backward::code, index);
    }

  private:
    /// The results without the residuals: a single one as it is.
    template <class Tuple, std::size_t... k>
    static constexpr auto first(const Tuple& results, std::index_sequence<k...>) {
        if constexpr (sizeof...(k) == 1) {
            return std::get<0>(results);
        } else {
            return std::make_tuple(std::get<k>(results)...);
        }
    }
};

/// A program as a differentiable function, with `linearize` and `pullback`, for use in `scan`,
/// `while_loop` and `compose`. The policy chooses which values are kept for the backward pass,
/// outside any `remat` in the program.
template <int... argument, class Recipe, class Policy = detail::EverythingSaveable>
[[nodiscard]] constexpr auto differentiable(const Program<Recipe>&, Policy = {}) {
    constexpr bool is_known = detail::is_known_by_type<Policy>;
    static_assert(is_known,
                  "differentiable: a policy with values is a template argument, as in "
                  "differentiable<Policy{5}>(program), because the program is split at compile "
                  "time");
    if constexpr (is_known) return DifferentiableProgram<Program<Recipe>, Policy, argument...>{};
}
/// The same under a policy with values: `differentiable<Policy{5}>(program)`.
template <auto policy, int... argument, class Recipe>
requires(std::is_class_v<decltype(policy)>)
    [[nodiscard]] constexpr auto differentiable(const Program<Recipe>& program) {
    return differentiable<argument...>(program, detail::PolicyValue<policy>{});
}

/// Evaluates a program and keeps what its pullback needs: differentiable(program).linearize(x...).
template <class Recipe, class... Arguments>
[[nodiscard]] constexpr auto linearize(const Program<Recipe>& program, const Arguments&... x) {
    return differentiable(program).linearize(x...);
}

}  // namespace eddy::inline v0
