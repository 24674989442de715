#pragma once
// Loops of known length written out, turn after turn: for what is done node by node, such as a series of
// which each coefficient waits for the one before.
// Test: tests/ad/taylor.cpp

#include <eddy/trace/loop_structure.hpp>
#include <eddy/trace/passes/rebuild.hpp>
#include <eddy/trace/slice_node.hpp>

namespace eddy::inline v0::passes {
namespace detail {

class WrittenOut {
  public:
    explicit constexpr WrittenOut(const Graph& graph)
        : graph_(graph),
          loop_of_(eddy::detail::loops_of_nodes(graph, graph.size())),
          turns_(graph.loops.size(), 0),
          rebuild_(graph) {}

    constexpr Graph run() {
        write(-1, 0, graph_.size());
        Graph written = rebuild_.finish();
        written.loops.clear();
        return written;
    }

  private:
    static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

    /// Those of nodes [first, last) that are in this loop and in none inside it.
    constexpr void write(int loop, int first, int last) {
        for (int i = first; i < last; ++i) {
            if (loop_of_[at(i)] != loop) continue;
            const Node& node = graph_[i];
            if (node.op == Op::loop) {
                write_turns(i);
            } else if (node.op == Op::element) {
                rebuild_.set(
                    i, eddy::detail::slice_node(rebuild_.graph(), rebuild_.operand(node, 0),
                                                turns_[at(node.index)] * node.size, node.size));
            } else if (!is_loop_op(node.op)) {
                rebuild_.set(i, rebuild_.copy(node));
            }
        }
    }
    constexpr void write_turns(int end) {
        const Node& node = graph_[end];
        const Loop& loop = graph_.loops[at(node.index)];
        const int carry = graph_.operand(node, 0);
        List<List<int>> outs(graph_.nodes.size());  // (stacked node, turn)
        rebuild_.set(carry, rebuild_.operand(node, 1));
        for (int turn = 0; turn < loop.length; ++turn) {
            turns_[at(node.index)] = turn;
            write(node.index, carry, end);
            for (int s = end + 1; s < graph_.size(); ++s) {
                if (graph_[s].op == Op::stacked && graph_.operand(s, 0) == end)
                    outs[at(s)].push_back(rebuild_.operand(graph_[s], 1));
            }
            rebuild_.set(carry, rebuild_.operand(node, 2));
        }
        rebuild_.set(end, rebuild_.map(carry));
        for (int s = end + 1; s < graph_.size(); ++s) {
            if (outs[at(s)].empty()) continue;
            rebuild_.set(s, rebuild_.graph().push_list({.op = Op::concat, .size = graph_[s].size},
                                                       outs[at(s)]));
        }
    }

    const Graph& graph_;
    List<int> loop_of_, turns_;
    Rebuild rebuild_;
};

}  // namespace detail

/// Is each loop of a finished graph one of known length, which can be written out?
template <class Code>
[[nodiscard]] constexpr bool has_known_lengths(const Code& code) {
    for (int i = 0; i < code.sizes.nodes; ++i) {
        const bool is_masked =
            code.nodes[i].op == Op::loop && code.loops[code.nodes[i].index].num_fixed() > 3;
        if (is_masked) return false;
    }
    return true;
}

/// The same program without loops; those whose length is not known must be none. As it is where there is
/// no loop.
[[nodiscard]] constexpr Graph write_out_loops(Graph graph) {
    if (graph.loops.empty()) return graph;
    return detail::WrittenOut(graph).run();
}

}  // namespace eddy::inline v0::passes
