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

#include <eddy/core/list.hpp>
#include <eddy/trace/graph.hpp>
#include <utility>

namespace eddy::inline v0::detail {

inline constexpr int own_pullback = 0, own_pushforward = 1, own_value = 2;

/// What depends on seeds, among the nodes before `end`: of a loop that does, all that is inside it.
constexpr List<char> nodes_behind(const Graph& graph, const List<std::pair<int, int>>& seeds,
                                  int end) {
    List<char> behind(static_cast<std::size_t>(end), 0), loops(graph.loops.size(), 0);
    for (bool is_settled = false; !is_settled;) {
        is_settled = true;
        for (int i = 0; i < end; ++i) {
            const Node& node = graph[i];
            char& flag = behind[static_cast<std::size_t>(i)];
            for (const auto& [seed, value] : seeds) flag = flag || seed == i;
            for (int k = 0; k < node.count; ++k)
                flag = flag || behind[static_cast<std::size_t>(graph.operand(node, k))];
            if (!is_loop_op(node.op)) continue;
            char& loop = loops[static_cast<std::size_t>(node.index)];
            if (node.op == Op::carry || node.op == Op::element) {
                flag = flag || loop;
            } else if (node.op == Op::loop && flag && !loop) {
                loop = 1;
                is_settled = false;
            }
        }
    }
    return behind;
}

/// Copies what depends on the first of each pair, among the nodes before `end`, with the second in its
/// place; (node): its copy, or -1. Loops in it become loops of their own.
constexpr List<int> substitute(Graph& graph, const List<std::pair<int, int>>& seeds, int end) {
    const List<char> behind = nodes_behind(graph, seeds, end);
    List<int> copies(static_cast<std::size_t>(end), -1), loops(graph.loops.size(), -1);
    for (int i = 0; i < end; ++i) {
        if (behind[static_cast<std::size_t>(i)] && graph[i].op == Op::loop)
            loops[static_cast<std::size_t>(graph[i].index)] = 0;
    }
    for (std::size_t loop = 0; loop < loops.size(); ++loop) {
        if (loops[loop] < 0) continue;
        loops[loop] = static_cast<int>(graph.loops.size());
        const Loop description = graph.loops[loop];
        graph.loops.push_back(description);
    }
    for (const auto& [seed, value] : seeds) copies[static_cast<std::size_t>(seed)] = value;
    for (int i = 0; i < end; ++i) {
        auto& copied = copies[static_cast<std::size_t>(i)];
        if (!behind[static_cast<std::size_t>(i)] || copied >= 0) continue;
        Node node = graph[i];
        List<int> operands;
        for (int k = 0; k < node.count; ++k) {
            const int operand = graph.operand(node, k);
            const int copy = copies[static_cast<std::size_t>(operand)];
            operands.push_back(copy >= 0 ? copy : operand);
        }
        if (is_loop_op(node.op) && loops[static_cast<std::size_t>(node.index)] >= 0)
            node.index = loops[static_cast<std::size_t>(node.index)];
        copied = graph.push_list(node, operands);
    }
    return copies;
}

/// The operands of node `own` that are its residuals, behind as many pairs (x_k, b_k) as it says.
constexpr int first_residual(const Node& own) { return 2 + 2 * own.offset; }

/// Makes node `own` an ordinary value, once its pullback is in the graph.
constexpr void forget_pullback(Graph& graph, int own) {
    const Node node = graph[own];
    List<int> operands{graph.operand(node, 0)};
    for (int k = first_residual(node); k < node.count; ++k)
        operands.push_back(graph.operand(node, k));
    Node& changed = graph.nodes[static_cast<std::size_t>(own)];
    changed.first = static_cast<int>(graph.operands.size());
    changed.count = static_cast<int>(operands.size());
    changed.index = own_value;
    changed.offset = 0;
    graph.operands.insert(graph.operands.end(), operands.begin(), operands.end());
}

/// Residual and Jacobian of a root, computed once more from the root itself, to which a derivative of
/// higher order may flow.
class RootEquation {
  public:
    constexpr RootEquation(Graph& graph, const Node& root, int i)
        : x_(graph.push({.op = Op::slice, .size = root.size}, i)) {  // folds to the root
        const int seed = graph.operand(root, 1);
        r_ = graph.operand(root, 2);
        jacobian_ = graph.operand(root, 3);
        copies_ = substitute(graph, {{seed, x_}}, (r_ > jacobian_ ? r_ : jacobian_) + 1);
    }
    /// What is computed for the root; before a call: by what stands at the node `i` of the trace.
    [[nodiscard]] constexpr int at_root(int i) const {
        const int copy = copies_[static_cast<std::size_t>(i)];
        return copy < 0 ? i : copy;
    }
    [[nodiscard]] constexpr int x() const { return x_; }
    [[nodiscard]] constexpr int residual() const { return at_root(r_); }
    [[nodiscard]] constexpr int jacobian() const { return at_root(jacobian_); }
    /// (node of the trace): its copy, or -1.
    [[nodiscard]] constexpr const List<int>& copies() const { return copies_; }

  private:
    int x_, r_ = -1, jacobian_ = -1;
    List<int> copies_;
};
/// J⁻¹ b or J⁻ᵀ b; of one number, a quotient.
constexpr int solve_jacobian(Graph& graph, int jacobian, int b, Op op) {
    const int size = graph[b].size;
    return size == 1 ? graph.push({.op = Op::div}, b, jacobian)
                     : graph.push({.op = op, .size = size}, jacobian, b);
}

/// Which nodes are tangents of a pushforward of the user's.
struct TangentNodes {
    enum : char { no, tangent, seed };
    List<char> kind;  // empty where there are none

    /// From a tangent nothing flows to a value that it multiplies.
    /// Node i, appended, is a copy of node j.
    constexpr void note_copy(int i, int j) {
        const auto to = static_cast<std::size_t>(i), from = static_cast<std::size_t>(j);
        if (kind.empty()) return;
        if (kind.size() <= to) kind.resize(to + 1, no);
        kind[to] = from < kind.size() ? kind[from] : char{no};
    }
    [[nodiscard]] constexpr bool blocks(int from, int to) const {
        const auto is = [&](int i, char what) {
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
        if (tangents.kind.empty()) tangents.kind = List<char>(graph.nodes.size(), 0);
        for (int k = 2; k < node.count; ++k)
            tangents.kind[static_cast<std::size_t>(graph.operand(node, k))] = TangentNodes::seed;
    }
    for (bool is_settled = tangents.kind.empty(); !is_settled;) {  // a loop hands on to its carry
        is_settled = true;
        for (std::size_t i = 0; i < tangents.kind.size(); ++i) {
            const Node& node = graph.nodes[i];
            const auto kind = [&](int k) -> char& {
                return tangents.kind[static_cast<std::size_t>(graph.operand(node, k))];
            };
            for (int k = 0; k < node.count && node.op != Op::own; ++k) {
                if (tangents.kind[i] == TangentNodes::no && kind(k) != TangentNodes::no)
                    tangents.kind[i] = TangentNodes::tangent;
            }
            if (node.op != Op::loop || kind(0) == tangents.kind[i]) continue;
            kind(0) = tangents.kind[i];
            is_settled = false;
        }
    }
    return tangents;
}

}  // namespace eddy::inline v0::detail
