#include <eddy/trace/trace.hpp>

namespace eddy::inline v0 {

int Graph::push_at_run_time(Node node, const int* list, std::size_t count) {
    return push_all(node, list, list + count);
}
int Graph::push_constants_at_run_time(int count, double value) {
    const int offset = static_cast<int>(constants.size());
    constants.resize(constants.size() + static_cast<std::size_t>(count), value);
    return push({.op = Op::constant, .size = count, .offset = offset});
}
void Graph::push_output_at_run_time(const List<int>& list, int result_size, bool is_scalar) {
    outputs.push_back(
        {static_cast<int>(operands.size()), static_cast<int>(list.size()), result_size, is_scalar});
    for (int node : list) operands.push_back(node);
}

int detail::slice_node_at_run_time(Graph& graph, int node, int offset, int size) {
    return slice_node_here(graph, node, offset, size);
}
void detail::push_at_run_time_as_output(Graph& graph, int node, bool is_scalar) {
    push_node_as_output(graph, node, is_scalar);
}
Traced<scalar_shape>& detail::TracedComponents::component_at_run_time(int i) {
    return component_here(i);
}
int detail::TracedComponents::whole_at_run_time(Graph& of_graph) { return whole_here(of_graph); }

int detail::push_elementwise_at_run_time(Graph& graph, Op op, int index, const int* nodes,
                                         int count) {
    return push_elementwise_here(graph, op, index, nodes, count);
}
DynamicTraced detail::make_argument(Graph& graph, const DynamicVector& shape) {
    const int index = static_cast<int>(graph.arguments.size());
    require_argument(shape.length >= 0,
                     "trace_graph: argument {} has length {}; pass a length that is not negative",
                     index, shape.length);
    graph.arguments.push_back({shape.length, false});
    return DynamicTraced(graph, graph.push_argument(index, 0, shape.length));
}

detail::RunTimeTrace::RunTimeTrace() = default;
detail::RunTimeTrace::~RunTimeTrace() = default;
Graph detail::RunTimeTrace::finish() {
    check_loops(graph);
    return passes::simplify(passes::order_canonically(graph));
}

void detail::copy_places(const Graph& from, Graph& to) {
    bool same = from.size() == to.size() && from.operands == to.operands;
    for (int i = 0; same && i < to.size(); ++i)
        same = from[i].op == to[i].op && from[i].size == to[i].size && from[i].first == to[i].first;
    if (!same) return;
    for (int i = 0; i < to.size(); ++i) {
        const SourcePlace place = from.place_of(i);
        if (place.line > 0)
            to.nodes[static_cast<std::size_t>(i)].offset = to.run_time.keep_place(place);
    }
}

}  // namespace eddy::inline v0
