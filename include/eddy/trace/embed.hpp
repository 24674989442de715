#pragma once
// A program inside a function that is traced: calling it, or embed(program, x...), appends the program's
// nodes to the graph that is growing, its arguments replaced by what it is called with. So a function may
// use what was made of another one from graph to graph, such as a derivative.
// Test: tests/trace/embed.cpp

#include <eddy/core/list.hpp>
#include <eddy/trace/trace.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {
namespace detail {

/// The nodes of `from` with its arguments replaced by nodes of `into`; returns the node of each result.
[[nodiscard]] constexpr List<int> embed_graph(const Graph& from, Graph& into,
                                              const List<int>& arguments) {
    const int first_constant = static_cast<int>(into.constants.size());
    const int first_name = static_cast<int>(into.names.size());
    const int first_region = static_cast<int>(into.regions.size()) - 1;
    const int first_loop = static_cast<int>(into.loops.size());
    const int outer = into.current_region;
    const auto region_of = [&](int region) { return region == 0 ? outer : first_region + region; };
    into.constants.insert(into.constants.end(), from.constants.begin(), from.constants.end());
    into.names.insert(into.names.end(), from.names.begin(), from.names.end());
    into.places.resize(static_cast<std::size_t>(first_name));
    into.places.insert(into.places.end(), from.places.begin(), from.places.end());
    into.loops.insert(into.loops.end(), from.loops.begin(), from.loops.end());
    const auto before = into.run_time.append(from.run_time);
    for (std::size_t k = 1; k < from.regions.size(); ++k) {
        Region region = from.regions[k];
        region.parent = region_of(region.parent);
        if (region.kept_policy >= 0) region.kept_policy += before.policies;
        into.regions.push_back(region);
    }
    if (into.error == TraceError::none) into.error = from.error;

    List<int> map;
    for (Node node : from.nodes) {
        List<int> operands;
        for (int k = 0; k < node.count; ++k)
            operands.push_back(map[static_cast<std::size_t>(from.operand(node, k))]);
        into.current_region = region_of(node.region);
        if (node.op == Op::argument) {
            const int whole = arguments[static_cast<std::size_t>(node.index)];
            map.push_back(slice_node(into, whole, node.offset, node.size));
            continue;
        }
        if (node.op == Op::constant) node.offset += first_constant;
        if (before.places > 0 && node.offset > 0 && !has_offset(node.op))
            node.offset += before.places;
        if (node.op == Op::name) node.index += first_name;
        if (is_loop_op(node.op)) node.index += first_loop;
        map.push_back(into.push_list(node, operands));
    }
    into.current_region = outer;
    List<int> results;
    for (const Output& output : from.outputs) {
        List<int> parts;
        for (int k = 0; k < output.count; ++k)
            parts.push_back(map[static_cast<std::size_t>(from.output_node(output, k))]);
        results.push_back(parts.size() == 1
                              ? parts[0]
                              : into.push_list({.op = Op::concat, .size = output.size}, parts));
    }
    return results;
}

/// An argument that has no components is read by no node.
template <class Argument>
constexpr int embedded_argument(Graph& graph, const Argument& x) {
    if constexpr (std::is_same_v<Argument, NoComponents>)
        return -1;
    else
        return node_of(graph, x);
}

/// Of the shape that the program was traced with, as far as the type tells.
template <class T>
constexpr bool is_embeddable(const Argument& argument) {
    if (argument.size == 0) return true;
    if (shape_of<T> == dynamic_shape) return true;
    return shape_of<T> == (argument.is_scalar ? scalar_shape : argument.size);
}
template <class T>
constexpr void check_size(Graph& graph, const Argument& argument, int index, int node) {
    if (shape_of<T> != dynamic_shape || argument.size == 0) return;
    if (graph[node].size == argument.size) return;
    report(
        graph, TraceError::sizes_differ,
        [index, expected = argument.size, size = graph[node].size] {
            return compose(
                "trace: argument {} of a program is a vector of {} components, but it was traced "
                "with {}; call it with as many",
                index, size, expected);
        });
}

template <class Recipe, int output>
inline constexpr int embedded_shape =
    Program<Recipe>::graph.outputs[output].is_scalar
        ? scalar_shape
        : static_cast<int>(Program<Recipe>::graph.outputs[output].size);

template <class Recipe, int... output, int... index, class... Arguments>
constexpr auto embed_program(std::integer_sequence<int, output...>,
                             std::integer_sequence<int, index...>, const Arguments&... x) {
    using Results = std::tuple<Traced<embedded_shape<Recipe, output>>...>;
    Graph* const found = common_graph(x...);
    if (found == nullptr) return Results(unknown_value<embedded_shape<Recipe, output>>()...);
    const List<int> arguments{embedded_argument(*found, x)...};
    (check_size<Arguments>(*found, Program<Recipe>::graph.arguments[index], index,
                           arguments[static_cast<std::size_t>(index)]),
     ...);
    if (found->error != TraceError::none)
        return Results(Traced<embedded_shape<Recipe, output>>(
            *found, found->push_zeros(Program<Recipe>::graph.outputs[output].size))...);
    const List<int> nodes = embed_graph(Program<Recipe>::graph.thaw(), *found, arguments);
    return Results(
        Traced<embedded_shape<Recipe, output>>(*found, nodes[static_cast<std::size_t>(output)])...);
}

}  // namespace detail

/// The result of a program inside another traced function; `program(x...)` does the same. The
/// arguments have the program's shapes, and at least one of them is traced. Several results come as
/// a std::tuple.
template <class Recipe, class... Arguments>
[[nodiscard]] constexpr auto embed(const Program<Recipe>&, const Arguments&... x) {
    constexpr auto& graph = Program<Recipe>::graph;
    constexpr bool as_many = graph.num_arguments() == sizeof...(Arguments);
    static_assert(as_many, "embed: one argument is needed for each argument of the program");
    if constexpr (as_many) {
        constexpr bool fit = [] {
            [[maybe_unused]] int index = 0;
            return (detail::is_embeddable<Arguments>(graph.arguments[index++]) && ...);
        }();
        static_assert(fit,
                      "embed: an argument has another shape than the program was traced with; give "
                      "a number for a Scalar, and a vector of n components for a Vector<n>");
        if constexpr (fit) {
            auto results = detail::embed_program<Recipe>(
                std::make_integer_sequence<int, graph.num_outputs()>{},
                std::make_integer_sequence<int, graph.num_arguments()>{}, x...);
            if constexpr (graph.num_outputs() == 1)
                return std::get<0>(results);
            else
                return results;
        }
    }
}

}  // namespace eddy::inline v0
