#pragma once
// Dead-code elimination: nodes that no output needs are dropped. Order is kept.
// Test: tests/trace/random_passes.cpp, tests/trace/passes/simplify.cpp

#include <eddy/trace/passes/rebuild.hpp>

namespace eddy::inline v0::passes {

/// Marks the nodes that `roots` depend on, the roots included.
[[nodiscard]] constexpr List<char> cone(const Graph& graph, const List<int>& roots) {
    List<char> needed(graph.nodes.size(), 0);
    for (int root : roots) needed[static_cast<std::size_t>(root)] = 1;
    for (int i = graph.size() - 1; i >= 0; --i) {
        if (!needed[static_cast<std::size_t>(i)]) continue;
        const Node& node = graph[i];
        const int count = node.op == Op::loop  // what it stacks is needed by who reads it
                              ? graph.loops[static_cast<std::size_t>(node.index)].num_fixed()
                              : node.count;
        for (int k = 0; k < count; ++k)
            needed[static_cast<std::size_t>(graph.operand(node, k))] = 1;
    }
    return needed;
}

/// The nodes that the outputs [first, last) are made of.
[[nodiscard]] constexpr List<int> output_nodes(const Graph& graph, std::size_t first,
                                               std::size_t last) {
    List<int> roots;
    for (std::size_t o = first; o < last; ++o) {
        for (int k = 0; k < graph.outputs[o].count; ++k)
            roots.push_back(graph.output_node(graph.outputs[o], k));
    }
    return roots;
}

[[nodiscard]] constexpr Graph eliminate_dead_code(const Graph& graph) {
    const List<char> needed = cone(graph, output_nodes(graph, 0, graph.outputs.size()));
    Rebuild rebuild(graph);
    for (int i = 0; i < graph.size(); ++i) {
        if (needed[static_cast<std::size_t>(i)]) rebuild.set(i, rebuild.copy(graph[i]));
    }
    return rebuild.finish();
}

}  // namespace eddy::inline v0::passes
