#pragma once
// Common-subexpression elimination by hashing: two nodes that compute the same thing from the same
// operands become one. Operands of commutative operations are compared in either order. Barriers
// are never merged: they keep a recomputation apart from the original.
// Test: tests/trace/passes/cse.cpp

#include <bit>
#include <cstdint>
#include <eddy/trace/passes/rebuild.hpp>

namespace eddy::inline v0::passes {
namespace detail {

/// An open-addressing table of the nodes of a growing graph.
class NodeTable {
  public:
    explicit constexpr NodeTable(const Graph& graph, std::size_t expected)
        : graph_(graph), slots_(std::bit_ceil(2 * expected + 16), -1) {}

    /// The earlier node equal to the last one of the graph, or -1 after remembering the last one.
    constexpr int find_or_insert_last() {
        const int last = graph_.size() - 1;
        std::size_t slot = hash(last) & (slots_.size() - 1);
        while (slots_[slot] >= 0) {
            if (equal(slots_[slot], last)) return slots_[slot];
            slot = (slot + 1) & (slots_.size() - 1);
        }
        slots_[slot] = last;
        return -1;
    }

  private:
    [[nodiscard]] constexpr std::uint64_t hash(int i) const {
        const Node& node = graph_[i];
        std::uint64_t h = static_cast<std::uint64_t>(node.op);
        const auto mix = [&h](std::uint64_t value) {
            h = (h ^ value) * 0x9E3779B97F4A7C15u;
            h ^= h >> 29;
        };
        mix(static_cast<std::uint64_t>(node.size));
        mix(static_cast<std::uint64_t>(static_cast<std::uint32_t>(node.index)));
        if (node.op == Op::constant) {
            for (int k = 0; k < node.size; ++k) mix(constant_bits(node, k));
            return h;
        }
        if (has_offset(node.op)) mix(static_cast<std::uint64_t>(node.offset));
        if (is_commutative(node.op)) {  // symmetric in the operands
            const auto a = static_cast<std::uint64_t>(graph_.operand(node, 0)),
                       b = static_cast<std::uint64_t>(graph_.operand(node, 1));
            mix((a + b) << 32 | (a ^ b));
        } else {
            for (int k = 0; k < node.count; ++k)
                mix(static_cast<std::uint64_t>(graph_.operand(node, k)));
        }
        return h;
    }
    [[nodiscard]] constexpr std::uint64_t constant_bits(const Node& node, int k) const {
        return std::bit_cast<std::uint64_t>(
            graph_.constants[static_cast<std::size_t>(node.offset + k)]);
    }

    [[nodiscard]] constexpr bool equal(int i, int j) const {
        const Node &a = graph_[i], &b = graph_[j];
        if (a.op != b.op || a.size != b.size || a.index != b.index || a.count != b.count)
            return false;
        if (a.op == Op::constant) {
            for (int k = 0; k < a.size; ++k) {
                if (constant_bits(a, k) != constant_bits(b, k)) return false;
            }
            return true;
        }
        if (a.offset != b.offset && has_offset(a.op)) return false;
        bool same = true;
        for (int k = 0; k < a.count; ++k)
            same = same && graph_.operand(a, k) == graph_.operand(b, k);
        if (same || !is_commutative(a.op)) return same;
        return graph_.operand(a, 0) == graph_.operand(b, 1) &&
               graph_.operand(a, 1) == graph_.operand(b, 0);
    }

    const Graph& graph_;
    List<int> slots_;
};

/// Merges the nodes of a growing graph, one by one as they are appended.
class Merger {
  public:
    explicit constexpr Merger(Graph& graph, std::size_t expected)
        : graph_(graph), table_(graph, expected) {}

    /// The node that stands for the last one: itself, or an equal one from before, and the last one
    /// is taken off again.
    constexpr int merge_last() {
        const int last = graph_.size() - 1;
        if (graph_[last].op == Op::barrier) return last;
        const int earlier = table_.find_or_insert_last();
        if (earlier < 0) return last;
        graph_.operands.resize(static_cast<std::size_t>(graph_[last].first));
        graph_.nodes.pop_back();
        return earlier;
    }

  private:
    Graph& graph_;
    NodeTable table_;
};

}  // namespace detail

[[nodiscard]] constexpr Graph eliminate_common_subexpressions(const Graph& graph) {
    Rebuild rebuild(graph);
    detail::Merger merger(rebuild.graph(), graph.nodes.size());
    for (int i = 0; i < graph.size(); ++i) {
        rebuild.copy(graph[i]);
        rebuild.set(i, merger.merge_last());
    }
    return rebuild.finish();
}

}  // namespace eddy::inline v0::passes
