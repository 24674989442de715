#pragma once
// Tracing: the function is called once with traced values, and what it does becomes a graph: `trace_graph(f, shapes...)`,
// at run time, for sizes that are not known before.
// Test: tests/trace/trace_graph.cpp

#include <eddy/core/export.hpp>
#include <eddy/trace/interpolate.hpp>
#include <eddy/trace/loops.hpp>
#include <eddy/trace/structured.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

/// The shape of a vector whose length is known only at run time, for `trace_graph`.
struct DynamicVector {
    int length = 0;  ///< the number of components
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
template <int rows, int columns>
struct ArgumentShape<Matrix<rows, columns>> {
    static constexpr Argument argument{rows * columns, false};
    static constexpr auto make(Graph& graph, int index) {
        return argument_structure<Member<Symbolic, Matrix<rows, columns>>>(graph, index);
    }
};
template <template <class> class Record>
struct ArgumentShape<Struct<Record>> {
    static_assert(
        is_structured<Record<Symbolic>>,
        "trace: a Struct is a plain struct of Member<Kind, shape>, with at most twelve of "
        "them or a list `members`");
    static constexpr Argument argument{flat_size<Record<Symbolic>>(), false};
    static constexpr auto make(Graph& graph, int index) {
        return argument_structure<Record<Symbolic>>(graph, index);
    }
};

/// Appends an argument of the given shape to a run-time trace.
template <class Shape>
auto make_argument(Graph& graph, const Shape&) {
    const int index = static_cast<int>(graph.arguments.size());
    graph.arguments.push_back(ArgumentShape<Shape>::argument);
    return ArgumentShape<Shape>::make(graph, index);
}
[[nodiscard]] EDDY_EXPORT DynamicTraced make_argument(Graph& graph, const DynamicVector& shape);

/// Appends a node as an output. Concatenations are taken apart, so they cost no node.
constexpr void push_node_as_output(Graph& graph, int node, bool is_scalar) {
    List<int> parts{node};
    if (graph[node].op == Op::concat) {
        parts.clear();
        for (int k = 0; k < graph[node].count; ++k) parts.push_back(graph.operand(node, k));
    }
    graph.push_output(parts, graph[node].size, is_scalar);
}
EDDY_EXPORT void push_at_run_time_as_output(Graph& graph, int node, bool is_scalar);

/// Appends `result` as an output.
template <class Result>
constexpr void push_result(Graph& graph, const Result& result) {
    static_assert(shape_of<Result> != no_shape,
                  "trace: the function must return a number, a traced value or a vector of them, "
                  "eddy::vec(a, b, ...), or several in a std::tuple");
    const int node = node_of(graph, result);
    constexpr bool is_scalar = shape_of<Result> == scalar_shape;
    if (std::is_constant_evaluated())
        push_node_as_output(graph, node, is_scalar);
    else
        push_at_run_time_as_output(graph, node, is_scalar);
}

/// Several results: std::tuple and std::pair of results, one within another as well.
template <class T>
struct AreResults : std::bool_constant<shape_of<T> != no_shape || is_structured<T>> {};
template <class... T>
struct AreResults<std::tuple<T...>>
    : std::bool_constant<(sizeof...(T) > 0) && (AreResults<T>::value && ...)> {};
template <class First, class Second>
struct AreResults<std::pair<First, Second>> : AreResults<std::tuple<First, Second>> {};

/// Appends what a function returned, in order.
template <class Result>
constexpr void push_results(Graph& graph, const Result& result) {
    if constexpr (is_structured<Result>) {
        push_result(graph, flattened(result));
    } else if constexpr (AreResults<Result>::value && shape_of<Result> == no_shape) {
        std::apply([&](const auto&... part) { (push_results(graph, part), ...); }, result);
    } else {
        push_result(graph, result);
    }
}

/// A graph that is traced at run time; `finish` checks and simplifies it.
struct EDDY_EXPORT RunTimeTrace {
    Graph graph;

    RunTimeTrace();
    RunTimeTrace(const RunTimeTrace&) = delete;
    RunTimeTrace& operator=(const RunTimeTrace&) = delete;
    ~RunTimeTrace();
    [[nodiscard]] Graph finish();
};

template <class Function>
inline constexpr bool is_stateless =
    std::is_empty_v<Function>&& std::is_default_constructible_v<Function>;

template <class Shape>
using ArgumentOf = decltype(ArgumentShape<Shape>::make(std::declval<Graph&>(), 0));

template <class Function, class... Shapes>
inline constexpr bool is_traceable = std::is_invocable_v<const Function&, ArgumentOf<Shapes>...>;

}  // namespace detail

/// Traces `function` at run time, with one shape for each argument: `Scalar{}`,
/// `DynamicVector{length}` or `Vector<length>{}`. The result is simplified.
/// The function may hold run-time state. Its vectors of run-time length are of type DynamicTraced.
/// Throws InvalidArgument if sizes do not fit together, or an index reads past the end of a vector.
template <class Function, class... Shapes>
[[nodiscard]] Graph trace_graph(const Function& function, const Shapes&... shapes) {
    detail::RunTimeTrace trace;
    Graph& graph = trace.graph;
    const std::tuple<decltype(detail::make_argument(graph, shapes))...> arguments{
        detail::make_argument(graph, shapes)...};
    static_assert(
        std::is_invocable_v<const Function&,
                            const decltype(detail::make_argument(graph, shapes))&...>,
        "trace_graph: the function must be callable with the traced arguments as f(arguments...)");
    detail::push_results(graph, std::apply(function, arguments));
    return trace.finish();
}

}  // namespace eddy::inline v0
