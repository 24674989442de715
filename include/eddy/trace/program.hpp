#pragma once
// A Program is a graph as a compile-time constant, and a function object that evaluates it. What
// makes the graph is a recipe: a type with `static constexpr Graph make()`. Tracing a function is
// one recipe, every transformation (vjp, jvp, jacobian, …) is another, so transformed programs are
// programs again.
//
//   graph   simplified: common subexpressions merged, constants folded, dead code gone;
//           transformations start here
//   code    what is evaluated: annotations stripped, products contracted into additions
// Test: tests/trace/trace_graph.cpp, tests/trace/node_counts.cpp

#include <eddy/trace/functions.hpp>
#include <eddy/trace/passes/arrange.hpp>
#include <eddy/trace/passes/contract.hpp>
#include <eddy/trace/passes/simplify.hpp>
#include <eddy/trace/passes/strip.hpp>
#include <eddy/trace/static_graph.hpp>

namespace eddy::inline v0 {

template <class Recipe>
struct Program;

namespace detail {

/// graph → code, the default; recipes whose graph needs nothing more bring their own. Contraction
/// comes first: a value with a name keeps its own rounding, so that it is the same whether it is
/// saved or not.
[[nodiscard]] constexpr Graph finish_code(const Graph& graph) {
    const Graph contracted = passes::contract(graph);
    if (!passes::has_annotations(contracted)) return contracted;
    return passes::simplify(passes::strip_annotations(contracted));
}

template <class Recipe>
struct CodeOf {
    static constexpr GraphSizes expected_sizes = Program<Recipe>::graph.sizes;
    static constexpr Graph make();
};

}  // namespace detail

template <class Recipe>
struct Program {
    using recipe = Recipe;
    static constexpr auto graph = freeze<Recipe>();
    static_assert(graph.error != TraceError::index_past_end,
                  "trace: the function reads past the end of a vector; check state_size, "
                  "parameter_size, data_size of a loss, and indices");
    static_assert(graph.error != TraceError::sizes_differ,
                  "trace: vectors of different sizes are combined; operands must have one size or "
                  "be scalars");
    static_assert(graph.error != TraceError::literals_only,
                  "trace: an operation is applied to literals only; compute it on plain numbers");
    static_assert(
        graph.error != TraceError::policy_with_values,
        "remat: inside a function that is traced at compile time a policy with values is a "
        "template argument, as in remat<Policy{5}>(f)");
    static_assert(graph.error != TraceError::no_pushforward,
                  "custom_vjp: there is no forward mode through a function with a pullback of its "
                  "own; write custom_jvp, which serves both modes");
    static_assert(
        graph.error != TraceError::leaves_loop,
        "trace: a value that is computed in the body of a loop is used behind the loop; return it "
        "as a part of the state, or give it out of a scan by carry_and_out(carry, out)");
    static_assert(
        graph.error != TraceError::own_in_loop,
        "custom_vjp, custom_jvp: a function with a derivative of its own is not called inside "
        "the body of a loop; write the function itself there");
    static_assert(
        graph.error != TraceError::loop_lengths,
        "repeat, scan: nested_lengths must be positive, and their product the number of turns");
    static_assert(graph.error != TraceError::loop_checkpoints,
                  "bounded_while: checkpoints must not be negative");
    static_assert(
        graph.error != TraceError::table_sizes,
        "interpolate: there must be at least 2 knots, and a value (and a slope) for each");
    static_assert(graph.error != TraceError::table_knots,
                  "interpolate: the knots must be finite and increase; sort the table by its "
                  "knots, and leave out what stands in it twice");
    static_assert(
        graph.error != TraceError::term_of_no_value,
        "missing_as_nan: the loss adds what reads no data to terms of several values, and "
        "may not know with which of them it is missing; put it before the term that it "
        "belongs to, both in brackets, or write sum(a + b) of vectors, component by "
        "component");
    static_assert(graph.error != TraceError::unsound_loops, "loops: this is a bug in eddy");
    static constexpr auto code = freeze<detail::CodeOf<Recipe>>();

    /// Evaluates the program: one argument per Argument of the graph, a scalar or anything with
    /// operator[]. Returns a Real for a scalar result, a Vec for a vector, a std::tuple of them for
    /// several results. Inside a function that is traced it becomes a part of that function, as
    /// embed makes it (trace/embed.hpp).
    template <class... Arguments>
    constexpr auto operator()(const Arguments&... arguments) const;
};

template <class Recipe>
constexpr Graph detail::CodeOf<Recipe>::make() {
    const Graph graph = Program<Recipe>::graph.thaw();
    if constexpr (requires { Recipe::finish(graph); }) {
        return passes::arrange_loops(Recipe::finish(graph));
    } else {
        return passes::arrange_loops(finish_code(graph));
    }
}

}  // namespace eddy::inline v0
