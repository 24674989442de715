#pragma once
// The arguments of a call of the interpreter: do they fit the graph?
// Test: tests/trace/interpret.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/core/error.hpp>
#include <eddy/trace/graph.hpp>
#include <eddy/trace/lane_array.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// The number of lanes of a call; throws InvalidArgument where the arguments do not fit the graph.
template <class Real>
std::int64_t checked_num_lanes(const Graph& graph, const std::vector<LaneArray<Real>>& arguments) {
    require_argument(
        graph.error == TraceError::none,
        "interpret: the trace of this graph failed; mend the function and trace it again");
    require_argument(arguments.size() == graph.arguments.size(),
                     "interpret: got {} arguments; the graph has {}", arguments.size(),
                     graph.arguments.size());
    std::int64_t num_lanes = 1;
    for (const auto& argument : arguments)
        num_lanes = argument.num_lanes() != 1 ? argument.num_lanes() : num_lanes;
    for (std::size_t a = 0; a < arguments.size(); ++a) {
        const int size = graph.arguments[a].size;
        require_argument(arguments[a].num_components() == size,
                         "interpret: argument {} has {} components; pass {}", a,
                         arguments[a].num_components(), size);
        require_argument(
            arguments[a].num_lanes() == num_lanes || arguments[a].num_lanes() == 1,
            "interpret: argument {} has {} trajectories; pass {} as for the others, or 1", a,
            arguments[a].num_lanes(), num_lanes);
    }
    return num_lanes;
}

}  // namespace eddy::inline v0::detail
