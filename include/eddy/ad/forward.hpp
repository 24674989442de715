#pragma once
// Forward mode, from graph to graph: one walk over the nodes that hands tangents on by the rules
// (ad/rules/). Tangents that are structurally zero cost nothing: they have no node.
// Test: tests/ad/random_derivatives.cpp, tests/ad/operations_vector.cpp

#include <eddy/ad/activity.hpp>
#include <eddy/ad/loop_body.hpp>
#include <eddy/ad/own_derivative.hpp>
#include <eddy/ad/rules/all.hpp>
#include <eddy/trace/program.hpp>

namespace eddy::inline v0 {
namespace detail {

class Forward {
  public:
    using Value = DynamicTraced;

    /// The first `num_primal` nodes are differentiated; what follows them is left alone.
    constexpr Forward(Graph graph, int num_primal)
        : graph_(std::move(graph)),
          num_primal_(num_primal),
          tangents_(static_cast<std::size_t>(num_primal), -1) {}

    /// Sets the tangent of components of an argument: `node` of graph() for argument node i.
    constexpr void set_tangent(int i, int node) { note(tangents_, i, node); }
    /// From now on the value of node i is read off `node`.
    constexpr void set_alias(int i, int node) { note(aliases_, i, node); }
    [[nodiscard]] constexpr Graph& graph() { return graph_; }

    /// Pushes tangents from the arguments to every node that depends on them.
    constexpr void run();
    /// From its operands to node i.
    constexpr void push_node(int i);

    template <Op op>
    constexpr void visit(const Node& node, int i) {
        if constexpr (ChoiceRule<Rule<op>>) {
            set_tangent(i, spanning(choose<op>(node), node.size).node());
        } else if constexpr (ActionRule<Rule<op>>) {
            set_tangent(
                i, spanning(act<op>(node, i, std::make_integer_sequence<int, operand_count(op)>{}),
                            node.size)
                       .node());
        } else if constexpr (requires { VectorRule<op>::pushforward(*this, node, i); }) {
            set_tangent(i, Value(VectorRule<op>::pushforward(*this, node, i)).node());
        }
    }

    // What rules see.
    [[nodiscard]] constexpr Value value(const Node& node, int k) {
        return value_of(graph_.operand(node, k));
    }
    [[nodiscard]] constexpr Value value_of(int i) {
        const int alias = noted(aliases_, i);
        return {graph_, alias >= 0 ? alias : i};
    }
    [[nodiscard]] constexpr bool has_tangent(int i) const { return noted(tangents_, i) >= 0; }
    /// Of an operand that has one.
    [[nodiscard]] constexpr Value tangent(const Node& node, int k) {
        return tangent_of(graph_.operand(node, k));
    }
    [[nodiscard]] constexpr Value tangent_of(int i) { return {graph_, noted(tangents_, i)}; }
    [[nodiscard]] constexpr Value tangent_or_zero(const Node& node, int k) {
        return tangent_or_zero_of(graph_.operand(node, k));
    }
    [[nodiscard]] constexpr Value tangent_or_zero_of(int i) {
        if (has_tangent(i)) return tangent_of(i);
        return value_of(graph_.push_zeros(graph_[i].size));
    }
    /// Σ over the operands that have a tangent, at least one, of contribution(k, tangent).
    template <class Contribution>
    constexpr Value sum_over_operands(const Node& node, Contribution contribution) {
        int total = -1;
        for (int k = 0; k < node.count; ++k) {
            if (!has_tangent(graph_.operand(node, k))) continue;
            const Value term = contribution(k, tangent(node, k));
            total = total < 0 ? term.node() : Value(value_of(total) + term).node();
        }
        return value_of(total);
    }

    /// A value with a derivative of its own (ad/own_derivative.hpp).
    constexpr Value push_own(const Node& node) {
        if (node.index == own_value) return tangent_or_zero(node, 0);
        if (node.index == own_pullback) {
            report(graph_, TraceError::no_pushforward, [] {
                return "custom_vjp: there is no forward mode through a function with a pullback of "
                       "its own; write custom_jvp, which serves both modes";
            });
            return value_of(graph_.push_zeros(node.size));
        }
        List<std::pair<int, int>> tangents;
        for (int k = 2; k < node.count; ++k) {
            const int seed = graph_.operand(node, k);
            tangents.emplace_back(seed, tangent_or_zero_of(seed).node());
        }
        const int t = graph_.operand(node, 1);
        const int made = substitute(graph_, tangents, t + 1)[static_cast<std::size_t>(t)];
        return value_of(made < 0 ? t : made);
    }

    /// ẋ = −J⁻¹ ṙ, one linear solve, where ṙ is that of what the equation captures.
    constexpr Value push_root(const Node& node, int i) {
        const RootEquation equation(graph_, node, i);
        const List<char> in_loop = nodes_in_loops(graph_, graph_.size());
        for (int copy : equation.copies()) {
            if (copy >= 0 && copy != equation.x() && !in_loop[static_cast<std::size_t>(copy)])
                push_node(copy);
        }
        const int change = tangent_or_zero_of(equation.residual()).node();
        return -value_of(solve_jacobian(graph_, equation.jacobian(), change, Op::solve));
    }

  private:
    static constexpr void note(List<int>& nodes, int i, int node) {
        const auto k = static_cast<std::size_t>(i);
        if (nodes.size() <= k) nodes.resize(k + 1, -1);
        nodes[k] = node;
    }
    [[nodiscard]] static constexpr int noted(const List<int>& nodes, int i) {
        const auto k = static_cast<std::size_t>(i);
        return k < nodes.size() ? nodes[k] : -1;
    }
    template <Op op, int... k>
    constexpr Value act(const Node& node, int i, std::integer_sequence<int, k...>) {
        return sum_over_operands(node, [&](int operand, Value tangent) {
            int result = -1;
            ((operand == k
                  ? void(result = Value(Rule<op>::template action<k>(
                                            node.index, tangent, value_of(i), value(node, k)...))
                                      .node())
                  : void()),
             ...);
            return value_of(result);
        });
    }

    template <Op op>
    constexpr Value choose(const Node& node) {
        using TheRule = Rule<op>;
        const TracedMask<dynamic_shape> mask(graph_, [&] {
            if constexpr (op == Op::select)
                return graph_.operand(node, 0);
            else if constexpr (op == Op::relu)
                return TheRule::choose(value(node, 0)).node();
            else
                return TheRule::choose(value(node, 0), value(node, 1)).node();
        }());
        const auto branch = [&](int k) {
            return k < 0 ? value_of(graph_.push_constant(0)) : branch_tangent(node, k);
        };
        return select(mask, branch(TheRule::when_true), branch(TheRule::when_false));
    }
    constexpr Value branch_tangent(const Node& node, int k) {
        return has_tangent(graph_.operand(node, k)) ? tangent(node, k)
                                                    : value_of(graph_.push_constant(0));
    }
    /// A tangent as long as its value: a scalar tangent of a vector value is repeated.
    constexpr Value spanning(Value tangent, int size) {
        return tangent.size() == size ? tangent : Bilinear::broadcast(tangent, size);
    }

    Graph graph_;
    int num_primal_;
    List<int> tangents_, aliases_;  // (node)
};

}  // namespace detail
}  // namespace eddy::inline v0
