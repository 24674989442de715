#pragma once
// The loops of a graph as programs of one turn.

#include <eddy/trace/graph.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// One turn: of the state and the operands to the next state, then what is stacked.
struct BodyOnRows {
    Graph turn, condition;  // condition: of the same arguments; empty where there is none
    List<int> operands;     // nodes around the loop
    List<char> is_walked;   // (operand): each turn reads the next part of it
    List<int> stacked;      // nodes
};

/// The loop that ends at node `end`; `loop_of`: the loops of the graph's nodes. It stacks what is asked for.
[[nodiscard]] BodyOnRows body_of_loop(const Graph& graph, const List<int>& loop_of, int end,
                                      const List<int>& stacked);

/// The same values without what is there for derivatives: a root is its x, and a loop that replays its start, for all
/// states are kept.
[[nodiscard]] Graph without_derivatives(const Graph& graph);

}  // namespace eddy::inline v0::detail
