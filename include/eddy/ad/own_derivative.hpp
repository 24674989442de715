#pragma once
// Values with a derivative of their own, as graphs hold them: a node `own` whose first operand is the
// value, and whose others say what the derivative is, in nodes that nothing else reads and that no
// evaluation computes.
//
//   own_pullback      (y, seed, x_0, b_0, …, r_0, …)    b_k is what x_k receives for the cotangent `seed`;
//                                                       `offset` pairs, then the residuals
//   own_pushforward   (y, t, seed_0, seed_1, …)         t is the tangent of y for tangents `seed_k` of x_k
//   own_value         (y, r_0, …)                       an ordinary value, whose pullback is in the graph:
//                                                       the residuals belong to the forward half
//
// A seed is a barrier that stands for a cotangent or a tangent until there is one. Reverse and forward
// mode copy what depends on it, with the true one in its place. Backward through t only seeds receive
// anything: t is linear in them, and its coefficients are no part of this derivative.
// Test: tests/ad/custom.cpp

#include <eddy/trace/graph.hpp>
#include <utility>
#include <vector>

namespace eddy::inline v0::detail {

inline constexpr int own_pullback = 0, own_pushforward = 1, own_value = 2;

/// Copies what depends on the first of each pair, among the nodes before `end`, with the second in its
/// place; (node): its copy, or -1.
constexpr std::vector<int> substitute(Graph& graph, const std::vector<std::pair<int, int>>& seeds,
                                      int end) {
    std::vector<int> copies(static_cast<std::size_t>(end), -1);
    int first = end;
    for (const auto& [seed, value] : seeds) {
        copies[static_cast<std::size_t>(seed)] = value;
        first = seed < first ? seed : first;
    }
    for (int i = first + 1; i < end; ++i) {
        const Node node = graph[i];
        std::vector<int> operands;
        bool depends = false;
        for (int k = 0; k < node.count; ++k) {
            const int operand = graph.operand(node, k);
            const int copy = copies[static_cast<std::size_t>(operand)];
            depends = depends || copy >= 0;
            operands.push_back(copy >= 0 ? copy : operand);
        }
        auto& copied = copies[static_cast<std::size_t>(i)];
        if (depends && copied < 0) copied = graph.push_list(node, operands);
    }
    return copies;
}

/// The operands of node `own` that are its residuals, behind as many pairs (x_k, b_k) as it says.
constexpr int first_residual(const Node& own) { return 2 + 2 * own.offset; }

/// Makes node `own` an ordinary value, once its pullback is in the graph.
constexpr void forget_pullback(Graph& graph, int own) {
    const Node node = graph[own];
    std::vector<int> operands{graph.operand(node, 0)};
    for (int k = first_residual(node); k < node.count; ++k)
        operands.push_back(graph.operand(node, k));
    Node& changed = graph.nodes[static_cast<std::size_t>(own)];
    changed.first = static_cast<int>(graph.operands.size());
    changed.count = static_cast<int>(operands.size());
    changed.index = own_value;
    changed.offset = 0;
    graph.operands.insert(graph.operands.end(), operands.begin(), operands.end());
}

/// Which nodes are tangents of a pushforward of the user's.
struct TangentNodes {
    enum : char { no, tangent, seed };
    std::vector<char> kind;  // empty where there are none

    /// From a tangent nothing flows to a value that it multiplies.
    [[nodiscard]] constexpr bool blocks(int from, int to) const {
        const auto is = [&](int i, char what) {  // copies that a sweep made are none
            const auto k = static_cast<std::size_t>(i);
            return (k < kind.size() ? kind[k] : char{no}) == what;
        };
        return is(from, tangent) && is(to, no);
    }
};
[[nodiscard]] constexpr TangentNodes tangent_nodes(const Graph& graph) {
    TangentNodes tangents;
    for (const Node& node : graph.nodes) {
        if (node.op != Op::own || node.index != own_pushforward) continue;
        if (tangents.kind.empty()) tangents.kind = std::vector<char>(graph.nodes.size(), 0);
        for (int k = 2; k < node.count; ++k)
            tangents.kind[static_cast<std::size_t>(graph.operand(node, k))] = TangentNodes::seed;
    }
    for (std::size_t i = 0; i < tangents.kind.size(); ++i) {
        const Node& node = graph.nodes[i];
        for (int k = 0; k < node.count && node.op != Op::own; ++k) {
            if (tangents.kind[i] == TangentNodes::no &&
                tangents.kind[static_cast<std::size_t>(graph.operand(node, k))] != TangentNodes::no)
                tangents.kind[i] = TangentNodes::tangent;
        }
    }
    return tangents;
}

}  // namespace eddy::inline v0::detail
