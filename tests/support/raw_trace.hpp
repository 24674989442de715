#pragma once
// A trace before any pass, and what it computes its first output by.

#include <eddy/trace/trace.hpp>

namespace support {

/// The graph that tracing `function` gives, not simplified.
template <class Function, class... Shapes>
eddy::Graph raw_trace(const Function& function, const Shapes&... shapes) {
    eddy::Graph graph;
    const std::tuple<decltype(eddy::detail::make_argument(graph, shapes))...> arguments{
        eddy::detail::make_argument(graph, shapes)...};
    eddy::detail::push_result(graph, std::apply(function, arguments));
    return graph;
}

/// The last node of the first output.
inline eddy::Node result_node(const eddy::Graph& graph) {
    const eddy::Output& output = graph.outputs[0];
    return graph[graph.output_node(output, output.count - 1)];
}

}  // namespace support
