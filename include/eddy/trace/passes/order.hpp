#pragma once
// A canonical order: depth first from the outputs, operands from first to last. C++ leaves it to
// the compiler in which order the operands of an expression are evaluated, hence traced; after this
// pass every compiler has the same graph, so derivatives are summed in the same order everywhere.
// Test: tests/trace/passes/order.cpp

#include <eddy/trace/passes/dce.hpp>

namespace eddy::inline v0::passes {

[[nodiscard]] constexpr Graph order_canonically(const Graph& graph) {
    Rebuild rebuild(graph);
    List<int> open;  // nodes whose operands are being placed, the innermost last
    for (int root : output_nodes(graph, 0, graph.outputs.size())) {
        open.push_back(root);
        while (!open.empty()) {
            const int i = open.back();
            const Node& node = graph[i];
            int waiting_for = -1;
            for (int k = 0; k < node.count && waiting_for < 0 && rebuild.map(i) < 0; ++k) {
                if (rebuild.map(graph.operand(node, k)) < 0) waiting_for = graph.operand(node, k);
            }
            if (waiting_for >= 0) {
                open.push_back(waiting_for);
                continue;
            }
            if (rebuild.map(i) < 0) rebuild.set(i, rebuild.copy(node));
            open.pop_back();
        }
    }
    return rebuild.finish();
}

}  // namespace eddy::inline v0::passes
