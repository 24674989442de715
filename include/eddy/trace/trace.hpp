#pragma once
// Tracing at compile time: the function is called once with traced values, and what it does becomes the graph of a
// Program: `trace<Shapes...>(f)`. What it shares with tracing at run time is in trace/trace_graph.hpp.
// Test: tests/trace/trace_graph.cpp

#include <eddy/core/export.hpp>
#include <eddy/trace/least_length.hpp>
#include <eddy/trace/loop_structure.hpp>
#include <eddy/trace/passes/order.hpp>
#include <eddy/trace/program.hpp>
#include <eddy/trace/trace_graph.hpp>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

namespace detail {

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

/// Gives the nodes of a graph the places of the same nodes of another; none, where it is another graph.
EDDY_EXPORT void copy_places(const Graph& from, Graph& to);

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

}  // namespace eddy::inline v0
