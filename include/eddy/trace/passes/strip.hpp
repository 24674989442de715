#pragma once
// Drops the identities that only speak to transformations, once those have been done: names, and
// derivatives of their own.
// stop_gradient stays, for the dual numbers that a program may be evaluated with.
// Test: tests/trace/random_passes.cpp, tests/trace/passes/simplify.cpp

#include <eddy/trace/passes/rebuild.hpp>

namespace eddy::inline v0::passes {

[[nodiscard]] constexpr bool is_annotation(const Node& node) {
    return node.op == Op::name || node.op == Op::own;
}

[[nodiscard]] constexpr bool has_annotations(const Graph& graph) {
    for (const Node& node : graph.nodes) {
        if (is_annotation(node)) return true;
    }
    return false;
}

[[nodiscard]] constexpr Graph strip_annotations(const Graph& graph) {
    Rebuild rebuild(graph);
    for (int i = 0; i < graph.size(); ++i) {
        const Node& node = graph[i];
        rebuild.set(i, is_annotation(node) ? rebuild.operand(node, 0) : rebuild.copy(node));
    }
    return rebuild.finish();
}

}  // namespace eddy::inline v0::passes
