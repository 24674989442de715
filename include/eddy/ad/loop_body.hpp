#pragma once
// The body of a loop as the sweeps of differentiation see it: which nodes are in it, and a second copy of
// them, in a loop of its own or in none.
// Test: tests/trace/loops_derivatives.cpp

#include <eddy/trace/loop_structure.hpp>
#include <utility>

namespace eddy::inline v0::detail {

class LoopBody {
  public:
    /// The loop that node `end` of the graph ends. It may be open to others that are not ended yet.
    constexpr LoopBody(const Graph& graph, int end)
        : end_(end), carry_(graph.operand(end, 0)), inside_(static_cast<std::size_t>(end), 0) {
        List<char> is_here(graph.loops.size(), 0);  // (loop): this one, or inside it
        is_here[at(graph[end].index)] = 1;
        inside_[at(carry_)] = 1;
        for (bool is_settled = false; !is_settled;) {
            is_settled = true;
            for (int j = carry_ + 1; j < end; ++j) {
                const Node& node = graph[j];
                if (node.op == Op::element && is_here[at(node.index)]) inside_[at(j)] = 1;
                for (int k = 0; k < node.count; ++k) {
                    if (contains(graph.operand(node, k))) inside_[at(j)] = 1;
                }
                // What is inside a loop that is inside, is inside: what it walks along, too.
                if (node.op != Op::loop || !inside_[at(j)] || is_here[at(node.index)]) continue;
                is_here[at(node.index)] = 1;
                inside_[at(graph.operand(node, 0))] = 1;
                is_settled = false;
            }
        }
        is_direct_ = inside_;
        for (int j = carry_; j < end; ++j) {
            if (!inside_[at(j)] || graph[j].op != Op::loop) continue;
            const LoopBody inner(graph, j);
            for (int k = inner.carry_; k < j; ++k) {
                if (inner.contains(k)) is_direct_[at(k)] = 0;
            }
        }
    }

    [[nodiscard]] constexpr int carry() const { return carry_; }
    [[nodiscard]] constexpr int end() const { return end_; }
    [[nodiscard]] constexpr bool contains(int j) const {
        return j >= carry_ && j < end_ && inside_[at(j)];
    }
    /// In this loop, and in none inside it.
    [[nodiscard]] constexpr bool contains_directly(int j) const {
        return contains(j) && is_direct_[at(j)];
    }

  private:
    static constexpr std::size_t at(int j) { return static_cast<std::size_t>(j); }
    int end_, carry_;
    List<char> inside_, is_direct_;
};

/// One flag per node: is it inside a loop that has ended?
[[nodiscard]] constexpr List<char> nodes_in_loops(const Graph& graph, int num_nodes) {
    List<char> flags(static_cast<std::size_t>(num_nodes), 0);
    for (int i = 0; i < num_nodes && !graph.loops.empty(); ++i) {
        if (graph[i].op != Op::loop) continue;
        const LoopBody body(graph, i);
        for (int j = body.carry(); j < i; ++j) {
            if (body.contains(j)) flags[static_cast<std::size_t>(j)] = 1;
        }
    }
    return flags;
}

/// A copy of nodes of a body: what stands for each of them, and new loops for those inside.
class LoopCopy {
  public:
    /// Elements of the loop become those of loop `id`; -1: there are none.
    constexpr LoopCopy(const Graph& graph, const LoopBody& body, int id)
        : body_(body),
          map_(static_cast<std::size_t>(body.end()), -1),
          loops_(graph.loops.size(), -1) {
        if (id >= 0) loops_[static_cast<std::size_t>(graph[body.end()].index)] = id;
    }

    /// What stands for node j of the body; a node outside stands for itself.
    [[nodiscard]] constexpr int operator()(int j) const {
        return body_.contains(j) ? map_[static_cast<std::size_t>(j)] : j;
    }
    constexpr void set(int j, int node) { map_[static_cast<std::size_t>(j)] = node; }

    /// Appends the copy of node j to its graph, which must not move in memory meanwhile.
    constexpr int copy(Graph& graph, int j) {
        Node node = graph[j];
        List<int> operands;
        for (int k = 0; k < node.count; ++k) operands.push_back((*this)(graph.operand(j, k)));
        if (is_loop_op(node.op)) {
            int& loop = loops_[static_cast<std::size_t>(node.index)];
            if (loop < 0) {
                loop = static_cast<int>(graph.loops.size());
                const Loop description = graph.loops[static_cast<std::size_t>(node.index)];
                graph.loops.push_back(description);
            }
            node.index = loop;
        }
        const int copied = graph.push_list(node, operands);
        set(j, copied);
        return copied;
    }

  private:
    const LoopBody& body_;
    List<int> map_, loops_;
};

}  // namespace eddy::inline v0::detail
