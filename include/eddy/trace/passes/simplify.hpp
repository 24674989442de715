#pragma once
// The passes that never change a result, until nothing folds any more. Constant evaluation is the
// larger part of compiling a big program, so folding, merging and the omission of dead code share
// one walk over the nodes: each live node is folded, and what stands for it merged with an equal
// one. Post-condition: no pass finds anything in the result.
// Test: tests/trace/passes/simplify.cpp

#include <eddy/trace/passes/cse.hpp>
#include <eddy/trace/passes/dce.hpp>
#include <eddy/trace/passes/fold.hpp>

namespace eddy::inline v0::passes {
namespace detail {

/// One walk over the nodes that the outputs need; tells how many it folded.
[[nodiscard]] constexpr Graph simplify_once(const Graph& graph, int& num_folded) {
    const List<char> needed = cone(graph, output_nodes(graph, 0, graph.outputs.size()));
    Rebuild rebuild(graph);
    Folder folder(rebuild);
    Merger merger(rebuild.graph(), graph.nodes.size());
    num_folded = 0;
    for (int i = 0; i < graph.size(); ++i) {
        if (!needed[static_cast<std::size_t>(i)]) continue;
        const int num_nodes = rebuild.graph().size();
        const int folded = folder.fold(graph[i]);
        num_folded += folded >= 0;
        const int node = folded >= 0 ? folded : rebuild.copy(graph[i]);
        rebuild.set(i, node >= num_nodes ? merger.merge_last() : node);
    }
    rebuild.graph().current_region = 0;
    return rebuild.finish();
}

}  // namespace detail

/// The graph after all passes, repeated until none changes it.
[[nodiscard]] constexpr Graph simplify(Graph graph) {
    int num_folded = 0;
    do {
        graph = detail::simplify_once(graph, num_folded);
    } while (num_folded > 0);
    return graph;
}

}  // namespace eddy::inline v0::passes
