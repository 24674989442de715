#pragma once
// A program inside a function that is traced: embed(program, x...) appends the program's nodes to the
// graph that is growing, its arguments replaced by what it is called with. So a function may use what was
// made of another one from graph to graph, such as a derivative.

#include <eddy/trace/trace.hpp>
#include <vector>

namespace eddy::inline v0 {
namespace detail {

/// The nodes of `from` with its arguments replaced by nodes of `into`; returns the node of result 0.
[[nodiscard]] constexpr int embed_graph(const Graph& from, Graph& into,
                                        const std::vector<int>& arguments) {
    const int first_constant = static_cast<int>(into.constants.size());
    const int first_name = static_cast<int>(into.names.size());
    const int first_region = static_cast<int>(into.regions.size()) - 1;
    const int outer = into.current_region;
    const auto region_of = [&](int region) { return region == 0 ? outer : first_region + region; };
    into.constants.insert(into.constants.end(), from.constants.begin(), from.constants.end());
    into.names.insert(into.names.end(), from.names.begin(), from.names.end());
    for (std::size_t k = 1; k < from.regions.size(); ++k)
        into.regions.push_back({region_of(from.regions[k].parent), from.regions[k].policy});
    if (into.error == TraceError::none) into.error = from.error;

    std::vector<int> map;
    for (Node node : from.nodes) {
        std::vector<int> operands;
        for (int k = 0; k < node.count; ++k)
            operands.push_back(map[static_cast<std::size_t>(from.operand(node, k))]);
        into.current_region = region_of(node.region);
        if (node.op == Op::argument) {
            const int whole = arguments[static_cast<std::size_t>(node.index)];
            map.push_back(slice_node(into, whole, node.offset, node.size));
            continue;
        }
        if (node.op == Op::constant) node.offset += first_constant;
        if (node.op == Op::name) node.index += first_name;
        map.push_back(into.push_list(node, operands));
    }
    into.current_region = outer;
    std::vector<int> parts;
    for (int k = 0; k < from.outputs[0].count; ++k)
        parts.push_back(map[static_cast<std::size_t>(from.output_node(from.outputs[0], k))]);
    if (parts.size() == 1) return parts[0];
    return into.push_list({.op = Op::concat, .size = from.outputs[0].size}, parts);
}

/// An argument that has no components is read by no node.
template <class Argument>
constexpr int embedded_argument(Graph& graph, const Argument& x) {
    if constexpr (std::is_same_v<Argument, NoComponents>)
        return -1;
    else
        return node_of(graph, x);
}

}  // namespace detail

/// The result of a program with one result, at arguments of its shapes, at least one of them traced.
template <class Recipe, class... Arguments>
[[nodiscard]] constexpr auto embed(const Program<Recipe>&, const Arguments&... x) {
    constexpr auto& graph = Program<Recipe>::graph;
    static_assert(graph.num_outputs() == 1 && graph.num_arguments() == sizeof...(Arguments),
                  "embed: the program must have one result, and as many arguments as it is given");
    constexpr int shape =
        graph.outputs[0].is_scalar ? scalar_shape : static_cast<int>(graph.outputs[0].size);
    Graph* const found = detail::common_graph(x...);
    if (found == nullptr) return detail::unknown_value<shape>();
    const std::vector<int> arguments{detail::embedded_argument(*found, x)...};
    return Traced<shape>(*found, detail::embed_graph(graph.thaw(), *found, arguments));
}

}  // namespace eddy::inline v0
