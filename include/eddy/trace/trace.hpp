#pragma once
// Tracing: the function is called once with traced values, and what it does becomes a graph.
// `trace<Shapes...>(f)` does so at compile time and returns a Program; `trace_graph(f, shapes...)`
// is the same at run time, for sizes that are not known before.

#include <eddy/trace/passes/order.hpp>
#include <eddy/trace/program.hpp>
#include <tuple>
#include <type_traits>

namespace eddy::inline v0 {

/// Shapes of arguments.
struct Scalar {};
template <int length>
struct Vector {
    static_assert(length >= 0, "Vector: the length must not be negative");
};

/// A vector whose length is known when the trace runs; for `trace_graph`.
struct DynamicVector {
    int length = 0;
};

namespace detail {

/// The argument of a function that takes none of its kind (parameter_size = 0).
struct NoComponents {
    [[nodiscard]] static constexpr int size() { return 0; }
};

template <class Shape>
struct ArgumentShape;
template <>
struct ArgumentShape<Scalar> {
    static constexpr Argument argument{1, true};
    static constexpr auto make(Graph& graph, int index) {
        return Traced<scalar_shape>(graph, graph.push_argument(index, 0, 1));
    }
};
template <int length>
struct ArgumentShape<Vector<length>> {
    static constexpr Argument argument{length, false};
    static constexpr auto make(Graph& graph, int index) {
        if constexpr (length == 0) {
            return NoComponents{};
        } else {
            return Traced<length>(graph, graph.push_argument(index, 0, length));
        }
    }
};

/// Appends an argument of the given shape to a run-time trace.
template <class Shape>
auto make_argument(Graph& graph, const Shape&) {
    const int index = static_cast<int>(graph.arguments.size());
    graph.arguments.push_back(ArgumentShape<Shape>::argument);
    return ArgumentShape<Shape>::make(graph, index);
}
inline auto make_argument(Graph& graph, const DynamicVector& shape) {
    const int index = static_cast<int>(graph.arguments.size());
    require_argument(shape.length >= 0,
                     "trace_graph: argument {} has length {}; pass a length that is not negative",
                     index, shape.length);
    graph.arguments.push_back({shape.length, false});
    return DynamicTraced(graph, graph.push_argument(index, 0, shape.length));
}

/// Appends `result` as an output. Concatenations are taken apart, so they cost no node.
template <class Result>
constexpr void push_result(Graph& graph, const Result& result) {
    static_assert(shape_of<Result> != no_shape,
                  "trace: the function must return a number, a traced value or a vector of them "
                  "(eddy::vec(a, b, …))");
    const int node = node_of(graph, result);
    const bool is_scalar = shape_of<Result> == scalar_shape;
    std::vector<int> parts{node};
    if (graph[node].op == Op::concat) {
        parts.clear();
        for (int k = 0; k < graph[node].count; ++k) parts.push_back(graph.operand(node, k));
    }
    graph.push_output(parts, graph[node].size, is_scalar);
}

template <class Function, class... Shapes>
struct TraceOf {
    static_assert(std::is_empty_v<Function> && std::is_default_constructible_v<Function>,
                  "trace: the function must be an empty functor or a captureless lambda; pass "
                  "values as arguments");

    static constexpr Graph make_raw() {
        return make_indexed(std::make_integer_sequence<int, static_cast<int>(sizeof...(Shapes))>{});
    }
    static constexpr Graph make() {
        return passes::simplify(passes::order_canonically(make_raw()));
    }

  private:
    template <int... index>
    static constexpr Graph make_indexed(std::integer_sequence<int, index...>) {
        static_assert(
            std::is_invocable_v<const Function&, decltype(ArgumentShape<Shapes>::make(
                                                     std::declval<Graph&>(), 0))...>,
            "trace: the function must be callable with the traced arguments as f(arguments...)");
        Graph graph;
        (graph.arguments.push_back(ArgumentShape<Shapes>::argument), ...);
        push_result(graph, Function{}(ArgumentShape<Shapes>::make(graph, index)...));
        return graph;
    }
};

}  // namespace detail

/// Traces `function` at compile time; Shapes are `Scalar` or `Vector<n>`, one per argument.
template <class First, class... Shapes, class Function>
[[nodiscard]] constexpr auto trace(const Function&) {
    return Program<detail::TraceOf<Function, First, Shapes...>>{};
}

/// Traces `function` now: one shape per argument, `Scalar{}`, `DynamicVector{length}` or
/// `Vector<length>{}`. The function may hold run-time state, and meets vectors of run-time length
/// as DynamicTraced. The result is simplified. Throws InvalidArgument where sizes do not fit
/// together or an index reads past the end of a vector.
template <class Function, class... Shapes>
[[nodiscard]] Graph trace_graph(const Function& function, const Shapes&... shapes) {
    Graph graph;
    const std::tuple<decltype(detail::make_argument(graph, shapes))...> arguments{
        detail::make_argument(graph, shapes)...};
    static_assert(
        std::is_invocable_v<const Function&,
                            const decltype(detail::make_argument(graph, shapes))&...>,
        "trace_graph: the function must be callable with the traced arguments as f(arguments...)");
    detail::push_result(graph, std::apply(function, arguments));
    return passes::simplify(passes::order_canonically(graph));
}

}  // namespace eddy::inline v0
