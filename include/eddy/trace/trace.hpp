#pragma once
// Tracing: the function is called once with traced values, and what it does becomes a graph.
// `trace<Shapes...>(f)` does so at compile time and returns a Program; `trace_graph(f, shapes...)`
// is the same at run time, for sizes that are not known before.
// Test: tests/trace/trace_graph.cpp

#include <eddy/core/export.hpp>
#include <eddy/trace/interpolate.hpp>
#include <eddy/trace/least_length.hpp>
#include <eddy/trace/loops.hpp>
#include <eddy/trace/passes/order.hpp>
#include <eddy/trace/program.hpp>
#include <eddy/trace/structured.hpp>
#include <tuple>
#include <type_traits>

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
                  "trace: the function must return a number, a traced value or a vector of them, "
                  "eddy::vec(a, b, ...), or several in a std::tuple");
    const int node = node_of(graph, result);
    const bool is_scalar = shape_of<Result> == scalar_shape;
    List<int> parts{node};
    if (graph[node].op == Op::concat) {
        parts.clear();
        for (int k = 0; k < graph[node].count; ++k) parts.push_back(graph.operand(node, k));
    }
    graph.push_output(parts, graph[node].size, is_scalar);
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

/// A value of a turn that is used behind its loop has no meaning there.
constexpr void check_loops(Graph& graph) {
    const List<int> loop_of = loops_of_nodes(graph, graph.size());
    for (int i = 0; i < graph.size() && !graph.loops.empty(); ++i) {
        if (graph[i].op != Op::own || loop_of[static_cast<std::size_t>(i)] < 0) continue;
        return report(graph, TraceError::own_in_loop, [] {
            return "custom_vjp, custom_jvp: a function with a derivative of its own is not called "
                   "inside "
                   "the body of a loop; write the function itself there";
        });
    }
    if (graph.error != TraceError::none || results_are_outside(graph)) return;
    report(graph, TraceError::leaves_loop, [] {
        return "trace: a value that is computed in the body of a loop is used behind the loop; "
               "return it "
               "as a part of the state, or give it out of a scan by carry_and_out(carry, out)";
    });
}

/// Checks and simplifies a graph that was traced at run time.
[[nodiscard]] EDDY_EXPORT Graph finish_trace(Graph graph);

/// Gives the nodes of a graph the places of the same nodes of another; none, where it is another graph.
EDDY_EXPORT void copy_places(const Graph& from, Graph& to);

template <class Function>
inline constexpr bool is_stateless =
    std::is_empty_v<Function>&& std::is_default_constructible_v<Function>;

template <class Shape>
using ArgumentOf = decltype(ArgumentShape<Shape>::make(std::declval<Graph&>(), 0));

template <class Function, class... Shapes>
inline constexpr bool is_traceable = std::is_invocable_v<const Function&, ArgumentOf<Shapes>...>;

/// Calls the function and forgets what it did, except whether it was too much.
template <class Function, class... Shapes>
constexpr bool try_call() {
    Graph graph;
    [&]<int... index>(std::integer_sequence<int, index...>) {
        (graph.arguments.push_back(ArgumentShape<Shapes>::argument), ...);
        push_results(graph, Function{}(ArgumentShape<Shapes>::make(graph, index)...));
    }
    (std::make_integer_sequence<int, static_cast<int>(sizeof...(Shapes))>{});
    return !will_be_too_long(graph);
}
template <class Function, class... Shapes>
concept RunsAtCompileTime = requires {
    typename std::bool_constant<try_call<Function, Shapes...>()>;
};
/// That it does, and is not too long, by one call: each costs a compiler as much as a trace.
template <class Function, class... Shapes>
concept IsTracedWell = requires {
    typename std::enable_if_t<try_call<Function, Shapes...>()>;
};

/// Says in one sentence what is wrong with a function that can be called with traced arguments,
/// before its trace fails in thirty; true where nothing is. Some functions have one result, others may
/// have several.
template <bool may_have_several, class Function, class... Shapes>
consteval bool check_results() {
    using Result =
        std::remove_cvref_t<std::invoke_result_t<const Function&, ArgumentOf<Shapes>...>>;
    constexpr bool returns = !std::is_void_v<Result>;
    static_assert(returns,
                  "trace: the function returns nothing; end it with a return, such as return "
                  "eddy::vec(a, b)");
    constexpr bool has_shape =
        !returns || shape_of<Result> != no_shape || (may_have_several && AreResults<Result>::value);
    static_assert(has_shape || may_have_several,
                  "trace: the function must return a number, a traced value or a vector of them, "
                  "eddy::vec(a, b, ...), and only one; not a std::tuple or another container");
    static_assert(has_shape || !may_have_several,
                  "trace: the function must return a number, a traced value or a vector of them, "
                  "eddy::vec(a, b, ...), or several in a std::tuple; not a std::array or another "
                  "container");
    if constexpr (!returns || !has_shape) {
        return false;
    } else if constexpr (IsTracedWell<Function, Shapes...>) {
        return true;
    } else {
        constexpr bool runs = RunsAtCompileTime<Function, Shapes...>;
        static_assert(runs,
                      "trace: the function cannot be called at compile time; write constexpr "
                      "before it, and leave out what a constant expression may not do: static "
                      "variables, output, functions that are not constexpr");
        static_assert(!runs,
                      "trace: this function has more operations than compilers have memory for "
                      "(9,000 by g++, 20,000 by clang); write vector operations instead of "
                      "components (slice, concat, dense, y * y), loop over cells in a "
                      "CheckpointedLoop, or raise the limit by "
                      "-DEDDY_LARGEST_PROGRAM=<operations>");
        return false;
    }
}
template <class Function, class... Shapes>
consteval bool check_traced() {
    return check_results<false, Function, Shapes...>();
}

template <class Function, class... Shapes>
struct TraceOf {
    using Returned =
        std::remove_cvref_t<std::invoke_result_t<const Function&, ArgumentOf<Shapes>...>>;
    static constexpr Graph make_raw() {
        return make_indexed(std::make_integer_sequence<int, static_cast<int>(sizeof...(Shapes))>{});
    }
    static constexpr Graph make() {
        return passes::simplify(passes::order_canonically(make_raw()));
    }

  private:
    template <int... index>
    static constexpr Graph make_indexed(std::integer_sequence<int, index...>) {
        Graph graph;
        (graph.arguments.push_back(ArgumentShape<Shapes>::argument), ...);
        push_results(graph, Function{}(ArgumentShape<Shapes>::make(graph, index)...));
        check_loops(graph);
        return graph;
    }
};

}  // namespace detail

/// Traces `function` at compile time to a Program. `Shapes` are `Scalar`, `Vector<n>`,
/// `Matrix<rows, columns>` or `Struct<Layer>`, one for each argument. A function with several results returns a std::tuple of them.
template <class First, class... Shapes, class Function>
[[nodiscard]] constexpr auto trace(const Function&) {
    static_assert(detail::is_stateless<Function>,
                  "trace: the function must be an empty functor or a captureless lambda; pass "
                  "values as arguments");
    if constexpr (detail::is_stateless<Function>) {
        constexpr bool callable = detail::is_traceable<Function, First, Shapes...>;
        static_assert(
            callable,
            "trace: the function must be callable with the traced arguments as f(arguments...)");
        if constexpr (callable) {
            if constexpr (detail::check_results<true, Function, First, Shapes...>())
                return Program<detail::TraceOf<Function, First, Shapes...>>{};
        }
    }
}

namespace detail {

/// The graph of a program with the places in the source where its nodes were made. A constant knows
/// none: what was traced is traced once more, now that the program runs.
template <class Recipe>
[[nodiscard]] Graph graph_with_places(const Program<Recipe>&) {
    Graph graph = Program<Recipe>::graph.thaw();
    if constexpr (requires { Recipe::make_raw(); }) copy_places(Recipe::make(), graph);
    return graph;
}

}  // namespace detail

/// Traces `function` at run time, with one shape for each argument: `Scalar{}`,
/// `DynamicVector{length}` or `Vector<length>{}`. The result is simplified.
/// The function may hold run-time state. Its vectors of run-time length are of type DynamicTraced.
/// Throws InvalidArgument if sizes do not fit together, or an index reads past the end of a vector.
template <class Function, class... Shapes>
[[nodiscard]] Graph trace_graph(const Function& function, const Shapes&... shapes) {
    Graph graph;
    const std::tuple<decltype(detail::make_argument(graph, shapes))...> arguments{
        detail::make_argument(graph, shapes)...};
    static_assert(
        std::is_invocable_v<const Function&,
                            const decltype(detail::make_argument(graph, shapes))&...>,
        "trace_graph: the function must be callable with the traced arguments as f(arguments...)");
    detail::push_results(graph, std::apply(function, arguments));
    return detail::finish_trace(std::move(graph));
}

}  // namespace eddy::inline v0
