#pragma once
// Common-subexpression elimination by hashing: two nodes that compute the same thing from the same
// operands become one. Operands of commutative operations are compared in either order. Barriers
// are never merged: they keep a recomputation apart from the original.

#include <bit>
#include <cstdint>
#include <eddy/trace/passes/rebuild.hpp>

namespace eddy::passes {
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
        mix(static_cast<std::uint64_t>(node.offset));
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
        if (a.offset != b.offset) return false;
        bool same = true;
        for (int k = 0; k < a.count; ++k)
            same = same && graph_.operand(a, k) == graph_.operand(b, k);
        if (same || !is_commutative(a.op)) return same;
        return graph_.operand(a, 0) == graph_.operand(b, 1) &&
               graph_.operand(a, 1) == graph_.operand(b, 0);
    }

    const Graph& graph_;
    std::vector<int> slots_;
};

}  // namespace detail

[[nodiscard]] constexpr Graph eliminate_common_subexpressions(const Graph& graph) {
    Rebuild rebuild(graph);
    detail::NodeTable table(rebuild.graph(), graph.nodes.size());
    for (int i = 0; i < graph.size(); ++i) {
        const int copied = rebuild.copy(graph[i]);
        const int earlier = graph[i].op == Op::barrier ? -1 : table.find_or_insert_last();
        if (earlier >= 0) {
            rebuild.graph().operands.resize(
                static_cast<std::size_t>(rebuild.graph()[copied].first));
            rebuild.graph().nodes.pop_back();
        }
        rebuild.set(i, earlier >= 0 ? earlier : copied);
    }
    return rebuild.finish();
}

}  // namespace eddy::passes
