#include <eddy/ad/split.hpp>

namespace eddy::inline v0 {

SplitGraph detail::split_at_run_time(const Graph& graph, const List<char>& with_respect_to) {
    return split_joined(joint_graph(graph, with_respect_to), graph);
}

}  // namespace eddy::inline v0
