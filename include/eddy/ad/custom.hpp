#pragma once
// Functions with a derivative of the user's own. Inside a traced function they are a part of it, and
// what their derivative reads is kept, dropped or computed again by the policies around, as any value
// is. `custom_vjp` also stands outside, as a Differentiable with residuals of any type.
// Test: tests/ad/custom.cpp

#include <eddy/ad/own_derivative.hpp>
#include <eddy/ad/remat.hpp>
#include <eddy/trace/structured.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {
namespace detail {

template <class T>
inline constexpr bool is_in_trace = may_have_graph<T> || (is_structured<T> && is_traced_struct<T>);

/// The graph of the first value that has one.
template <class... T>
constexpr Graph* graph_among(const T&... x) {
    Graph* found = nullptr;
    ((found = found != nullptr ? found : graph_within(x)), ...);
    return found;
}

/// The node of a value of any structure.
template <class T>
constexpr int flat_node(Graph& graph, const T& x) {
    return node_of(graph, flattened(x));
}

/// A value like x whose components are those of `node`.
template <class Like>
constexpr auto value_like(Graph& graph, int node) {
    constexpr int size = flat_size<Like>();
    if constexpr (is_structured<Like>)
        return traced_structure<Like>(Traced<size>(graph, node));
    else
        return Traced < std::is_arithmetic_v<Like> ? scalar_shape
                                                   : shape_of < Like >> (graph, node);
}

/// The nodes of residuals: of all traced values in tuples and pairs.
template <class T>
constexpr void list_residuals(Graph& graph, const T& x, List<int>& nodes) {
    if constexpr (is_in_trace<T>)
        list_nodes(graph, x, nodes);
    else if constexpr (requires { std::tuple_size<T>::value; })
        std::apply([&](const auto&... part) { (list_residuals(graph, part, nodes), ...); }, x);
}

/// A seed, which stands for a tangent or cotangent of x: no pass merges it with anything.
template <class T>
constexpr int push_seed(Graph& graph, const T& x) {
    const int node = flat_node(graph, x);
    return graph.push({.op = Op::barrier, .size = graph[node].size}, node);
}

template <class T>
constexpr std::tuple<T> listed(const T& x) {
    return {x};
}
template <class... T>
constexpr std::tuple<T...> listed(const std::tuple<T...>& x) {
    return x;
}

template <class Residuals, class Value, class Pullback>
struct CustomLinearization {
    Value value;
    Residuals residuals;
    Pullback pull;

    template <class Cotangent>
    [[nodiscard]] auto pullback(const Cotangent& cotangent) const {
        return pull(residuals, cotangent);
    }
    Value take_value() { return std::move(value); }
};

}  // namespace detail

/// A function with a pullback of its own; made by `custom_vjp`.
template <class Function, class Forward, class Pullback>
struct CustomVjp {
    [[no_unique_address]] Function function;
    [[no_unique_address]] Forward forward;
    [[no_unique_address]] Pullback pull;

    template <class... Inputs>
    constexpr auto operator()(const Inputs&... x) const {
        if constexpr ((detail::is_in_trace<Inputs> || ...)) {
            Graph* const graph = detail::graph_among(x...);
            if (graph == nullptr) return forward(x...).first;
            return traced(*graph, x...);
        } else {
            return function(x...);
        }
    }

    /// `forward(x...)`, and a pullback from what that kept.
    template <class... Inputs>
    [[nodiscard]] auto linearize(const Inputs&... x) const {
        auto [value, residuals] = forward(x...);
        return detail::CustomLinearization<decltype(residuals), decltype(value), Pullback>{
            std::move(value), std::move(residuals), pull};
    }

  private:
    template <class... Inputs>
    constexpr auto traced(Graph& graph, const Inputs&... x) const {
        const auto kept = forward(x...);
        using Value = std::remove_cvref_t<decltype(kept.first)>;
        constexpr bool is_one = (detail::flat_size<Value>() > 0);
        static_assert(is_one,
                      "custom_vjp: inside a traced function the value must be a number, a vector, "
                      "a matrix or a struct; put several into one");
        const int y = detail::flat_node(graph, kept.first),
                  seed = detail::push_seed(graph, kept.first);
        const auto cotangents =
            detail::listed(pull(kept.second, detail::value_like<Value>(graph, seed)));
        constexpr bool as_many =
            std::tuple_size_v<std::remove_const_t<decltype(cotangents)>> == sizeof...(Inputs);
        static_assert(as_many,
                      "custom_vjp: the pullback must return one cotangent for each argument, "
                      "several as a std::tuple");
        List<int> operands{y, seed};
        [&]<std::size_t... k>(std::index_sequence<k...>) {
            (put(graph, operands, x, std::get<k>(cotangents)), ...);
        }
        (std::index_sequence_for<Inputs...>{});
        detail::list_residuals(graph, kept.second, operands);
        const int node = graph.push_list({.op = Op::own,
                                          .size = graph[y].size,
                                          .index = detail::own_pullback,
                                          .offset = static_cast<int>(sizeof...(Inputs))},
                                         operands);
        return detail::value_like<Value>(graph, node);
    }
    template <class X, class Cotangent>
    static constexpr void put(Graph& graph, List<int>& operands, const X& x,
                              const Cotangent& cotangent) {
        const int of_x = detail::flat_node(graph, x), of_c = detail::flat_node(graph, cotangent);
        if (graph[of_x].size != graph[of_c].size)
            detail::report(
                graph, TraceError::sizes_differ, [a = graph[of_x].size, b = graph[of_c].size] {
                    return detail::compose(
                        "custom_vjp: an argument of {} components has a cotangent of {}; "
                        "return one as long",
                        a, b);
                });
        operands.push_back(of_x);
        operands.push_back(of_c);
    }
};

/// A function with a pullback of its own. `forward(x...)` returns a std::pair of the value and the
/// residuals, of any type outside a trace; `pullback(residuals, cotangent)` returns the cotangent of
/// x, or a std::tuple of one for each argument. `f(x...)` is the value alone.
template <class Function, class Forward, class Pullback>
[[nodiscard]] constexpr auto custom_vjp(Function f, Forward forward, Pullback pullback) {
    return CustomVjp<Function, Forward, Pullback>{std::move(f), std::move(forward),
                                                  std::move(pullback)};
}

/// A function with a pushforward of its own; made by `custom_jvp`.
template <class Function, class Pushforward>
struct CustomJvp {
    [[no_unique_address]] Function function;
    [[no_unique_address]] Pushforward pushforward;

    template <class... Inputs>
    constexpr auto operator()(const Inputs&... x) const {
        if constexpr ((detail::is_in_trace<Inputs> || ...)) {
            Graph* const graph = detail::graph_among(x...);
            if (graph == nullptr) return function(x...);
            return traced(*graph, x...);
        } else {
            return function(x...);
        }
    }

  private:
    template <class... Inputs>
    constexpr auto traced(Graph& graph, const Inputs&... x) const {
        const auto value = function(x...);
        using Value = std::remove_cvref_t<decltype(value)>;
        const int y = detail::flat_node(graph, value);
        const List<int> seeds{detail::push_seed(graph, x)...};
        const int t = [&]<std::size_t... k>(std::index_sequence<k...>) {
            return detail::flat_node(
                graph, pushforward(x..., detail::value_like<Inputs>(graph, seeds[k])...));
        }
        (std::index_sequence_for<Inputs...>{});
        if (graph[t].size != graph[y].size)
            detail::report(graph, TraceError::sizes_differ, [a = graph[y].size, b = graph[t].size] {
                return detail::compose(
                    "custom_jvp: a value of {} components has a tangent of {}; "
                    "return one as long",
                    a, b);
            });
        List<int> operands{y, t};
        operands.insert(operands.end(), seeds.begin(), seeds.end());
        const int node = graph.push_list(
            {.op = Op::own, .size = graph[y].size, .index = detail::own_pushforward}, operands);
        return detail::value_like<Value>(graph, node);
    }
};

/// A function with a derivative of its own for both modes, inside traced functions:
/// `pushforward(x..., tangents of x...)` returns the tangent of `f(x...)` and is linear in the
/// tangents. Reverse mode transposes it.
template <class Function, class Pushforward>
[[nodiscard]] constexpr auto custom_jvp(Function f, Pushforward pushforward) {
    return CustomJvp<Function, Pushforward>{std::move(f), std::move(pushforward)};
}

}  // namespace eddy::inline v0
