#pragma once
// Rules of the vector operations, reverse and forward. `Reverse` collects cotangents of operands
// (add(node, cotangent)), `Forward` knows tangents (tangent(node, k), of operands that depend on the
// inputs). The bilinear operations dense, dense_transposed and outer are closed under
// differentiation.
// Test: tests/ad/operations_vector.cpp

#include <eddy/ad/rules/rule.hpp>
#include <eddy/trace/functions.hpp>

namespace eddy::inline v0 {

/// Graph-level spellings of the bilinear operations, on values whose sizes are known when the pass
/// runs.
struct Bilinear {
    using Value = DynamicTraced;
    [[nodiscard]] static constexpr Value product(Value matrix, Value x) {
        const int rows = matrix.size() / x.size();
        return {*x.graph(),
                x.graph()->push({.op = Op::dense, .size = rows}, matrix.node(), x.node())};
    }
    [[nodiscard]] static constexpr Value transposed(Value matrix, Value cotangent) {
        const int columns = matrix.size() / cotangent.size();
        return {*matrix.graph(), matrix.graph()->push({.op = Op::dense_transposed, .size = columns},
                                                      matrix.node(), cotangent.node())};
    }
    [[nodiscard]] static constexpr Value outer(Value u, Value v) {
        return {*u.graph(), u.graph()->push({.op = Op::outer, .size = u.size() * v.size()},
                                            u.node(), v.node())};
    }
    [[nodiscard]] static constexpr Value broadcast(Value x, int size) {
        return {*x.graph(), x.graph()->push({.op = Op::broadcast, .size = size}, x.node())};
    }
};

/// VectorRule<op>::pullback(reverse, node, i, c) and ::pushforward(forward, node, i) -> tangent.
template <Op op>
struct VectorRule {};

template <>
struct VectorRule<Op::slice> {
    static constexpr void pullback(auto& reverse, const Node& node, int, DynamicTraced c) {
        reverse.add_piece(reverse.operand(node, 0), node.offset, c);
    }
    static constexpr DynamicTraced pushforward(auto& forward, const Node& node, int) {
        return slice(forward.tangent(node, 0), node.offset, node.size);
    }
};

template <>
struct VectorRule<Op::concat> {
    static constexpr void pullback(auto& reverse, const Node& node, int, DynamicTraced) {
        int begin = 0;
        for (int k = 0; k < node.count; ++k) {
            const int part = reverse.operand(node, k);
            if (reverse.is_active(part)) reverse.add_part(part, begin);
            begin += reverse.size_of(part);
        }
    }
    static constexpr DynamicTraced pushforward(auto& forward, const Node& node, int) {
        List<int> parts;
        for (int k = 0; k < node.count; ++k)
            parts.push_back(forward.tangent_or_zero(node, k).node());
        return {forward.graph(),
                forward.graph().push_list({.op = Op::concat, .size = node.size}, parts)};
    }
};

template <>
struct VectorRule<Op::broadcast> {
    static constexpr void pullback(auto& reverse, const Node& node, int, DynamicTraced c) {
        reverse.add(reverse.operand(node, 0), sum(c));
    }
    static constexpr DynamicTraced pushforward(auto& forward, const Node& node, int) {
        return Bilinear::broadcast(forward.tangent(node, 0), node.size);
    }
};

template <>
struct VectorRule<Op::sum> {
    static constexpr void pullback(auto& reverse, const Node& node, int, DynamicTraced c) {
        const int x = reverse.operand(node, 0);
        reverse.add(x, Bilinear::broadcast(c, reverse.size_of(x)));
    }
    static constexpr DynamicTraced pushforward(auto& forward, const Node& node, int) {
        return sum(forward.tangent(node, 0));
    }
};

template <>
struct VectorRule<Op::dot> {
    static constexpr void pullback(auto& reverse, const Node& node, int, DynamicTraced c) {
        for (int k = 0; k < 2; ++k) {
            const int operand = reverse.operand(node, k);
            if (reverse.is_active(operand))
                reverse.add_product(operand, c * reverse.value(node, 1 - k));
        }
    }
    static constexpr DynamicTraced pushforward(auto& forward, const Node& node, int) {
        return forward.sum_over_operands(node, [&](int k, DynamicTraced tangent) {
            return DynamicTraced(dot(tangent, forward.value(node, 1 - k)));
        });
    }
};

/// The derivative of norm at 0 is 0, not NaN.
template <>
struct VectorRule<Op::norm> {
    static constexpr void pullback(auto& reverse, const Node& node, int i, DynamicTraced c) {
        const DynamicTraced value = reverse.value_of(i), x = reverse.value(node, 0);
        reverse.add_product(reverse.operand(node, 0), select(value == 0, 0, c / value) * x);
    }
    static constexpr DynamicTraced pushforward(auto& forward, const Node& node, int i) {
        const DynamicTraced value = forward.value_of(i), x = forward.value(node, 0);
        return select(value == 0, 0, dot(x, forward.tangent(node, 0)) / value);
    }
};

template <>
struct VectorRule<Op::dense> {
    static constexpr void pullback(auto& reverse, const Node& node, int, DynamicTraced c) {
        const int w = reverse.operand(node, 0), x = reverse.operand(node, 1);
        if (reverse.is_active(w))
            reverse.add_product(w, Bilinear::outer(c, reverse.value(node, 1)));
        if (reverse.is_active(x))
            reverse.add_mixed_product(x, Bilinear::transposed(reverse.value(node, 0), c));
        if (node.count == 3 && reverse.is_active(reverse.operand(node, 2)))
            reverse.add(reverse.operand(node, 2), c);
    }
    static constexpr DynamicTraced pushforward(auto& forward, const Node& node, int) {
        return forward.sum_over_operands(node, [&](int k, DynamicTraced tangent) {
            if (k == 0) return Bilinear::product(tangent, forward.value(node, 1));
            return k == 1 ? Bilinear::product(forward.value(node, 0), tangent) : tangent;
        });
    }
};

template <>
struct VectorRule<Op::dense_transposed> {
    static constexpr void pullback(auto& reverse, const Node& node, int, DynamicTraced c) {
        const int w = reverse.operand(node, 0), u = reverse.operand(node, 1);
        if (reverse.is_active(w))
            reverse.add_product(w, Bilinear::outer(reverse.value(node, 1), c));
        if (reverse.is_active(u))
            reverse.add_mixed_product(u, Bilinear::product(reverse.value(node, 0), c));
    }
    static constexpr DynamicTraced pushforward(auto& forward, const Node& node, int) {
        return forward.sum_over_operands(node, [&](int k, DynamicTraced tangent) {
            return k == 0 ? Bilinear::transposed(tangent, forward.value(node, 1))
                          : Bilinear::transposed(forward.value(node, 0), tangent);
        });
    }
};

/// A⁻¹ b, or A⁻ᵀ b.
template <bool transposed>
struct SolveRule {
    static constexpr DynamicTraced solve(DynamicTraced matrix, DynamicTraced b, bool transposes) {
        return {*matrix.graph(),
                matrix.graph()->push(
                    {.op = transposes ? Op::solve_transposed : Op::solve, .size = b.size()},
                    matrix.node(), b.node())};
    }
    static constexpr void pullback(auto& reverse, const Node& node, int i, DynamicTraced c) {
        const DynamicTraced w = solve(reverse.value(node, 0), c, !transposed),
                            x = reverse.value_of(i);
        const int matrix = reverse.operand(node, 0), b = reverse.operand(node, 1);
        if (reverse.is_active(matrix)) {
            const DynamicTraced outer =
                transposed ? Bilinear::outer(x, -w) : Bilinear::outer(-w, x);
            reverse.add_mixed_product(matrix, outer);
        }
        if (reverse.is_active(b)) reverse.add_mixed_product(b, w);
    }
    static constexpr DynamicTraced pushforward(auto& forward, const Node& node, int i) {
        const DynamicTraced matrix = forward.value(node, 0), x = forward.value_of(i);
        const DynamicTraced change = forward.sum_over_operands(node, [&](int k, DynamicTraced t) {
            if (k == 1) return t;
            return -(transposed ? Bilinear::transposed(t, x) : Bilinear::product(t, x));
        });
        return solve(matrix, change, transposed);
    }
};
template <>
struct VectorRule<Op::solve> : SolveRule<false> {};
template <>
struct VectorRule<Op::solve_transposed> : SolveRule<true> {};

/// A root differentiates its equation: both directions compute residual and Jacobian at the root.
template <>
struct VectorRule<Op::root> {
    static constexpr void pullback(auto& reverse, const Node& node, int i, DynamicTraced c) {
        reverse.pull_root(node, i, c);
    }
    static constexpr DynamicTraced pushforward(auto& forward, const Node& node, int i) {
        return forward.push_root(node, i);
    }
};

/// The index has no derivative.
template <>
struct VectorRule<Op::at> {
    static constexpr void pullback(auto& reverse, const Node& node, int, DynamicTraced c) {
        const int x = reverse.operand(node, 0);
        if (!reverse.is_active(x)) return;
        Graph& graph = *c.graph();
        const int size = reverse.size_of(x), zeros = graph.push_zeros(size);
        reverse.add_mixed(x, {graph, graph.push({.op = Op::add_at, .size = size}, zeros,
                                                reverse.operand(node, 1), c.node())});
    }
    static constexpr DynamicTraced pushforward(auto& forward, const Node& node, int) {
        Graph& graph = forward.graph();
        if (!forward.has_tangent(graph.operand(node, 0)))
            return {graph, graph.push_zeros(node.size)};
        return {graph,
                graph.push(node, forward.tangent(node, 0).node(), forward.value(node, 1).node())};
    }
};

template <>
struct VectorRule<Op::add_at> {
    static constexpr void pullback(auto& reverse, const Node& node, int, DynamicTraced c) {
        reverse.add(reverse.operand(node, 0), c);
        const int added = reverse.operand(node, 2), size = reverse.size_of(added);
        if (!reverse.is_active(added)) return;
        Graph& graph = *c.graph();
        const DynamicTraced index = reverse.value(node, 1),
                            taken(graph,
                                  graph.push({.op = Op::at, .size = size}, c.node(), index.node()));
        const int offset = static_cast<int>(graph.constants.size());
        for (int k = 0; k < size; ++k) graph.constants.push_back(k);
        const DynamicTraced places =
            floor(index) +
            DynamicTraced(graph, graph.push({.op = Op::constant, .size = size, .offset = offset}));
        reverse.add_mixed(added, select(0 <= places && places < node.size, taken, 0));
    }
    static constexpr DynamicTraced pushforward(auto& forward, const Node& node, int) {
        return {forward.graph(), forward.graph().push(node, forward.tangent_or_zero(node, 0).node(),
                                                      forward.value(node, 1).node(),
                                                      forward.tangent_or_zero(node, 2).node())};
    }
};

template <>
struct VectorRule<Op::outer> {
    static constexpr void pullback(auto& reverse, const Node& node, int, DynamicTraced c) {
        const int u = reverse.operand(node, 0), v = reverse.operand(node, 1);
        if (reverse.is_active(u))
            reverse.add_product(u, Bilinear::product(c, reverse.value(node, 1)));
        if (reverse.is_active(v))
            reverse.add_product(v, Bilinear::transposed(c, reverse.value(node, 0)));
    }
    static constexpr DynamicTraced pushforward(auto& forward, const Node& node, int) {
        return forward.sum_over_operands(node, [&](int k, DynamicTraced tangent) {
            return k == 0 ? Bilinear::outer(tangent, forward.value(node, 1))
                          : Bilinear::outer(forward.value(node, 0), tangent);
        });
    }
};

/// A value with a derivative of its own: both directions rewrite what ad/custom.hpp traced.
template <>
struct VectorRule<Op::own> {
    static constexpr void pullback(auto& reverse, const Node& node, int i, DynamicTraced c) {
        reverse.pull_own(node, i, c);
    }
    static constexpr DynamicTraced pushforward(auto& forward, const Node& node, int) {
        return forward.push_own(node);
    }
};

}  // namespace eddy::inline v0
