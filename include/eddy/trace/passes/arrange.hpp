#pragma once
// The order of evaluation: the nodes of a loop stand together, right before the node that ends it, those
// that its condition needs first. Then the places of nodes are the times at which they run, and what lives
// how long is read off them.
// Test: tests/trace/random_functions.cpp

#include <eddy/trace/loop_structure.hpp>
#include <eddy/trace/passes/rebuild.hpp>

namespace eddy::inline v0::passes {
namespace detail {

class Arrangement {
  public:
    explicit constexpr Arrangement(const Graph& graph)
        : graph_(graph),
          loop_of_(eddy::detail::loops_of_nodes(graph, graph.size())),
          rebuild_(graph) {}

    constexpr Graph run() {
        place_nodes(-1, 0, graph_.size());
        return rebuild_.finish();
    }

  private:
    /// Places the nodes of `loop` among [first, last); of each loop inside, all of it at its end.
    constexpr void place_nodes(int loop, int first, int last) {
        for (int i = first; i < last; ++i) {
            if (loop_of_[static_cast<std::size_t>(i)] != loop || rebuild_.map(i) >= 0) continue;
            if (graph_[i].op == Op::loop) place_body(i);
            rebuild_.set(i, rebuild_.copy(graph_[i]));
        }
    }
    /// What node i depends on, with what loops on the way stack.
    [[nodiscard]] constexpr List<char> all_below(int i) const {
        List<char> needed(graph_.nodes.size(), 0);
        needed[static_cast<std::size_t>(i)] = 1;
        for (; i >= 0; --i) {
            for (int k = 0; needed[static_cast<std::size_t>(i)] && k < graph_[i].count; ++k)
                needed[static_cast<std::size_t>(graph_.operand(i, k))] = 1;
        }
        return needed;
    }
    constexpr void place_body(int end) {
        const int loop = graph_[end].index, carry = graph_.operand(end, 0);
        rebuild_.set(carry, rebuild_.copy(graph_[carry]));
        if (graph_.loops[static_cast<std::size_t>(loop)].has_condition) {
            const List<char> needed = all_below(graph_.operand(end, 3));
            for (int i = 0; i < end; ++i) {
                const auto k = static_cast<std::size_t>(i);
                if (!needed[k] || loop_of_[k] != loop || rebuild_.map(i) >= 0) continue;
                if (graph_[i].op == Op::loop) place_body(i);
                rebuild_.set(i, rebuild_.copy(graph_[i]));
            }
        }
        place_nodes(loop, 0, end);
    }

    const Graph& graph_;
    List<int> loop_of_;
    Rebuild rebuild_;
};

}  // namespace detail

/// As it is where there is no loop.
[[nodiscard]] constexpr Graph arrange_loops(Graph graph) {
    if (graph.loops.empty()) return graph;
    return detail::Arrangement(graph).run();
}

}  // namespace eddy::inline v0::passes
