#pragma once
// Which components of a program's values are zero whatever its arguments: known from the graph.
// Test: tests/solve/constant_components.cpp

#include <eddy/trace/graph.hpp>

namespace eddy::inline v0::detail {

/// Walks of one graph, a Graph or a StaticGraph.
template <class AnyGraph>
class ZeroComponents {
  public:
    constexpr explicit ZeroComponents(const AnyGraph& graph) : graph_(graph) {}

    /// Is component c of node i written as zero: a literal, or parts of literals?
    [[nodiscard]] constexpr bool is_literal(int i, int c) const {
        const Node& node = node_at(i);
        switch (node.op) {
            case Op::constant: return constant(node.offset + (node.size > 1 ? c : 0)) == 0;
            case Op::slice: return is_literal(operand(node, 0), node.offset + c);
            case Op::broadcast: return is_literal(operand(node, 0), 0);
            case Op::concat: {
                const int part = part_of(node, c);
                return is_literal(part, c);
            }
            default: return false;
        }
    }

    /// Is it zero for all arguments that are finite? Literals are, and their products with components of
    /// arguments; sums of those, and whatever chooses between them. (Not 0 · exp(x): that may overflow.)
    [[nodiscard]] constexpr bool is_zero(int i, int c) const {
        const Node& node = node_at(i);
        const auto is = [&](int k) { return is_zero(operand(node, k), c); };
        const auto product_is = [&] { return is_product_zero(node, c); };
        if (is_identity(node.op)) return is(0);
        switch (node.op) {
            case Op::constant: return is_literal(i, node.size > 1 ? c : 0);
            case Op::slice: return is_zero(operand(node, 0), node.offset + c);
            case Op::broadcast: return is_zero(operand(node, 0), 0);
            case Op::concat: {
                const int part = part_of(node, c);
                return is_zero(part, c);
            }
            case Op::neg: return is(0);
            case Op::add:
            case Op::sub: return is(0) && is(1);
            case Op::select: return is(1) && is(2);
            case Op::mul: return product_is();
            case Op::fma:
            case Op::mul_add:
            case Op::mul_sub:
            case Op::neg_mul_add: return product_is() && is(2);
            default: return false;
        }
    }

  private:
    [[nodiscard]] constexpr int operand(const Node& node, int k) const {
        return graph_.operands[static_cast<std::size_t>(node.first + k)];
    }
    [[nodiscard]] constexpr const Node& node_at(int i) const {
        return graph_.nodes[static_cast<std::size_t>(i)];
    }
    [[nodiscard]] constexpr double constant(int i) const {
        return graph_.constants[static_cast<std::size_t>(i)];
    }
    /// The operand of a concatenation that component c is in; c becomes its number there.
    [[nodiscard]] constexpr int part_of(const Node& node, int& c) const {
        int k = 0;
        while (c >= node_at(operand(node, k)).size) c -= node_at(operand(node, k++)).size;
        return operand(node, k);
    }
    [[nodiscard]] constexpr bool is_product_zero(const Node& node, int c) const {
        const int a = operand(node, 0), b = operand(node, 1);
        return (is_zero(a, c) && is_given(b)) || (is_zero(b, c) && is_given(a));
    }
    /// Components of arguments, and literals: finite where what was given is.
    [[nodiscard]] constexpr bool is_given(int i) const {
        const Node& node = node_at(i);
        if (node.op == Op::argument || node.op == Op::constant) return true;
        const bool is_part = node.op == Op::slice || node.op == Op::concat ||
                             node.op == Op::broadcast || is_identity(node.op);
        for (int k = 0; is_part && k < node.count; ++k)
            if (!is_given(operand(node, k))) return false;
        return is_part;
    }

    const AnyGraph& graph_;
};

}  // namespace eddy::inline v0::detail
