#include <eddy/trace/trace.hpp>

namespace eddy::inline v0 {

Graph detail::finish_trace(Graph graph) {
    check_loops(graph);
    return passes::simplify(passes::order_canonically(graph));
}

}  // namespace eddy::inline v0
