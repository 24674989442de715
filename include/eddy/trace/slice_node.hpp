#pragma once
// Components of a node as a node of their own, and nodes one after another as one.
// Test: tests/trace/trace_graph.cpp, tests/compile_fail/slice_past_end.cpp

#include <eddy/trace/misuse.hpp>

namespace eddy::inline v0::detail {

/// The same at run time: compiled in the library, not where a function is traced.
[[nodiscard]] EDDY_EXPORT int slice_node_at_run_time(Graph& graph, int node, int offset, int size);

/// The node for component(s) [offset, offset + size) of `node`, looking through what is already
/// known of it.
constexpr int slice_node_here(Graph& graph, int node, int offset, int size);
constexpr int slice_node(Graph& graph, int node, int offset, int size) {
    if (!std::is_constant_evaluated()) return slice_node_at_run_time(graph, node, offset, size);
    return slice_node_here(graph, node, offset, size);
}

constexpr int slice_node_here(Graph& graph, int node, int offset, int size) {
    const Node source = graph[node];
    if (offset < 0 || size < 1 || offset + size > source.size) {
        report(graph, TraceError::index_past_end, [offset, size, length = source.size] {
            return past_end_message(offset, size, length);
        });
        return graph.push_zeros(
            size < 1 ? 1 : size);  // keeps a compile-time trace going until the static_assert
    }
    if (size == source.size) return node;
    if (source.op == Op::argument)
        return graph.push_argument(source.index, source.offset + offset, size);
    if (source.op == Op::concat && source.count == source.size)  // of components: no search
        return size == 1 ? graph.operand(source, offset)
                         : graph.push({.op = Op::slice, .size = size, .offset = offset}, node);
    if (source.op == Op::concat) {
        int begin = 0;
        for (int k = 0; k < source.count; ++k) {
            const int part = graph.operand(source, k);
            if (offset >= begin && offset + size <= begin + graph[part].size) {
                return slice_node(graph, part, offset - begin, size);
            }
            begin += graph[part].size;
        }
    }
    return graph.push({.op = Op::slice, .size = size, .offset = offset}, node);
}

constexpr int joined_node(Graph& graph, const List<int>& parts) {
    if (parts.size() == 1) return parts[0];
    int size = 0;
    for (int part : parts) size += graph[part].size;
    return graph.push_list({.op = Op::concat, .size = size}, parts);
}

}  // namespace eddy::inline v0::detail
