#pragma once
// Loops in the one flat graph. A loop is a `carry` (its state at the start of a turn), a `loop` (its
// state after the last turn) and a row of Graph::loops. Invariant: a node is inside a loop if it
// depends on the loop's carry or on its `element`s and is not behind its `loop`. So what a body captures
// is an operand like any other, what does not depend on the carry is outside by itself, and two loops
// nest if one depends on the carry of the other.
// Test: tests/trace/loops.cpp

#include <cstdint>
#include <eddy/core/list.hpp>
#include <eddy/trace/graph.hpp>

namespace eddy::inline v0::detail {

/// The loops that each node is inside of, as bits.
template <class Items>
class OpenLoops {
  public:
    constexpr OpenLoops(const Items& graph, int num_nodes, int num_loops)
        : words_((num_loops + 63) / 64), bits_(static_cast<std::size_t>(num_nodes * words_), 0) {
        for (int i = 0; words_ > 0 && i < num_nodes; ++i) {
            const Node& node = graph.nodes[static_cast<std::size_t>(i)];
            for (int k = 0; k < node.count; ++k) {
                const int from = graph.operands[static_cast<std::size_t>(node.first + k)];
                for (int w = 0; w < words_; ++w) word(i, w) |= word(from, w);
            }
            const std::uint64_t own = std::uint64_t{1} << (node.index % 64);
            if (node.op == Op::carry || node.op == Op::element) word(i, node.index / 64) |= own;
            if (node.op == Op::loop || node.op == Op::stacked || node.op == Op::turns)
                word(i, node.index / 64) &= ~own;
        }
    }
    /// The innermost loop around node i, which has the highest number; −1: none.
    [[nodiscard]] constexpr int innermost(int i) const {
        for (int w = words_ - 1; w >= 0; --w) {
            for (int b = 63; b >= 0 && word(i, w) != 0; --b) {
                if ((word(i, w) >> b & 1) != 0) return 64 * w + b;
            }
        }
        return -1;
    }

  private:
    [[nodiscard]] constexpr std::uint64_t& word(int i, int w) {
        return bits_[static_cast<std::size_t>(i * words_ + w)];
    }
    [[nodiscard]] constexpr const std::uint64_t& word(int i, int w) const {
        return bits_[static_cast<std::size_t>(i * words_ + w)];
    }
    int words_;
    List<std::uint64_t> bits_;  // (node, word)
};

[[nodiscard]] constexpr int num_loops(const Graph& graph) {
    return static_cast<int>(graph.loops.size());
}
template <class Code>
[[nodiscard]] constexpr int num_loops(const Code& code) {
    return code.sizes.loops;
}

/// Is there a loop in a finished graph, or what goes with loops?
template <class Code>
[[nodiscard]] constexpr bool has_loops(const Code& code) {
    for (int i = 0; i < code.sizes.nodes; ++i) {
        const Op op = code.nodes[i].op;
        if (op >= Op::solve && !is_table_op(op)) return true;
    }
    return false;
}

/// How many states of a tape are kept, where only loops that replay read it; else 0.
template <class Code>
[[nodiscard]] constexpr int num_slots(const Code& code, int tape) {
    const Node& node = code.nodes[tape];
    if (node.op != Op::stacked || node.offset != 1 || code.loops[node.index].checkpoints == 0)
        return 0;
    const Node& loop = code.nodes[code.operands[node.first]];
    if (code.operands[node.first + 1] != code.operands[loop.first]) return 0;
    for (const Output& output : code.outputs) {
        for (int k = 0; k < output.count; ++k) {
            if (code.operands[output.first + k] == tape) return 0;
        }
    }
    List<char> is_part(static_cast<std::size_t>(code.sizes.nodes), 0);
    for (int i = tape + 1; i < code.sizes.nodes; ++i) {
        const Node& reader = code.nodes[i];
        for (int k = 0; k < reader.count; ++k) {
            const int from = code.operands[reader.first + k];
            const bool is_replay =
                reader.op == Op::loop && k == 1 && code.loops[reader.index].replays;
            if (from == tape && reader.op != Op::element) return 0;
            if (from == tape) is_part[static_cast<std::size_t>(i)] = 1;
            if (is_part[static_cast<std::size_t>(from)] && !is_replay) return 0;
        }
    }
    return code.loops[node.index].checkpoints;
}

/// The innermost loop that each node is inside of; −1: none.
template <class Items>
[[nodiscard]] constexpr List<int> loops_of_nodes(const Items& graph, int num_nodes) {
    List<int> loop_of(static_cast<std::size_t>(num_nodes), -1);
    if (num_loops(graph) == 0) return loop_of;
    const OpenLoops<Items> open(graph, num_nodes, num_loops(graph));
    for (int i = 0; i < num_nodes; ++i) loop_of[static_cast<std::size_t>(i)] = open.innermost(i);
    return loop_of;
}

/// The loop around each loop, and which node ends it; −1: none.
struct LoopTree {
    List<int> parents, ends;
    template <class Items>
    constexpr LoopTree(const Items& graph, const List<int>& loop_of)
        : parents(static_cast<std::size_t>(num_loops(graph)), -1), ends(parents) {
        for (std::size_t i = 0; i < loop_of.size(); ++i) {
            const Node& node = graph.nodes[i];
            if (node.op != Op::loop) continue;
            parents[static_cast<std::size_t>(node.index)] = loop_of[i];
            ends[static_cast<std::size_t>(node.index)] = static_cast<int>(i);
        }
    }
    /// Is `loop` the loop `outer`, or inside it? Of −1, all are inside.
    [[nodiscard]] constexpr bool is_within(int loop, int outer) const {
        while (loop > outer) loop = parents[static_cast<std::size_t>(loop)];
        return loop == outer;
    }
};

/// Does no result depend on a turn of a loop that it is not behind?
[[nodiscard]] constexpr bool results_are_outside(const Graph& graph) {
    if (graph.loops.empty()) return true;
    const List<int> loop_of = loops_of_nodes(graph, graph.size());
    for (const Output& output : graph.outputs) {
        for (int k = 0; k < output.count; ++k) {
            if (loop_of[static_cast<std::size_t>(graph.output_node(output, k))] >= 0) return false;
        }
    }
    return true;
}

/// What must hold of every graph that is frozen: operands are below, a loop closes its own carry and is
/// the only one that does, and what is stacked is among its operands.
[[nodiscard]] constexpr bool loops_are_sound(const Graph& graph) {
    List<int> closed(graph.loops.size(), 0);
    for (int i = 0; i < graph.size(); ++i) {
        const Node& node = graph[i];
        for (int k = 0; k < node.count; ++k) {
            if (graph.operand(node, k) >= i) return false;
        }
        if (!is_loop_op(node.op)) continue;
        if (static_cast<std::size_t>(node.index) >= graph.loops.size()) return false;
        const Loop& loop = graph.loops[static_cast<std::size_t>(node.index)];
        if (node.op == Op::loop) {
            const Node& carry = graph[graph.operand(node, 0)];
            if (carry.op != Op::carry || carry.index != node.index || carry.size != node.size ||
                graph[graph.operand(node, 1)].size != node.size ||
                graph[graph.operand(node, 2)].size != node.size || node.count < loop.num_fixed() ||
                ++closed[static_cast<std::size_t>(node.index)] > 1)
                return false;
        }
        if (node.op != Op::stacked) continue;
        const Node& of = graph[graph.operand(node, 0)];
        bool is_stacked = graph.operand(node, 1) == graph.operand(of, 0);
        for (int k = 2; k < of.count; ++k)
            is_stacked = is_stacked || graph.operand(of, k) == graph.operand(node, 1);
        if (of.op != Op::loop || of.index != node.index || !is_stacked) return false;
    }
    return results_are_outside(graph);
}

}  // namespace eddy::inline v0::detail
