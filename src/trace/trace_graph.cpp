#include <eddy/trace/trace.hpp>

namespace eddy::inline v0 {

Graph detail::finish_trace(Graph graph) {
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
