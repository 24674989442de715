#pragma once
// Forward mode, from graph to graph: the Jacobian–vector product. Tangents that are structurally
// zero cost nothing: they have no node.

#include <eddy/ad/activity.hpp>
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
    constexpr void set_tangent(int i, int node) { tangents_[static_cast<std::size_t>(i)] = node; }
    [[nodiscard]] constexpr Graph& graph() { return graph_; }

    /// Pushes tangents from the arguments to every node that depends on them.
    constexpr void run();

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
    [[nodiscard]] constexpr Value value_of(int i) { return {graph_, i}; }
    [[nodiscard]] constexpr bool has_tangent(int i) const {
        return tangents_[static_cast<std::size_t>(i)] >= 0;
    }
    /// Of an operand that has one.
    [[nodiscard]] constexpr Value tangent(const Node& node, int k) {
        return tangent_of(graph_.operand(node, k));
    }
    [[nodiscard]] constexpr Value tangent_of(int i) {
        return value_of(tangents_[static_cast<std::size_t>(i)]);
    }
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
        std::vector<std::pair<int, int>> tangents;
        for (int k = 2; k < node.count; ++k) {
            const int seed = graph_.operand(node, k);
            tangents.emplace_back(seed, tangent_or_zero_of(seed).node());
        }
        const int t = graph_.operand(node, 1);
        const int made = substitute(graph_, tangents, t + 1)[static_cast<std::size_t>(t)];
        return value_of(made < 0 ? t : made);
    }

  private:
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
    std::vector<int> tangents_;
};

// Defined after the class: clang instantiates `visit` where it is first named, and needs its body
// by then.
constexpr void Forward::run() {
    for (int i = 0; i < num_primal_; ++i) {
        const Node node = graph_[i];
        if (node.op == Op::argument || !has_derivative(node.op)) continue;
        bool depends = false;
        for (int k = 0; k < node.count; ++k)
            depends = depends || has_tangent(graph_.operand(node, k));
        if (!depends) continue;
        graph_.current_region = node.region;
        visit_op(node.op, *this, node, i);
    }
    graph_.current_region = 0;
}

template <class P, int... argument>
struct JvpOf {
    static constexpr int expected_nodes = 4 * P::graph.size() + 64;
    static constexpr Graph make();
};

}  // namespace detail

/// The Jacobian–vector product of a graph: arguments (x..., one tangent per flagged argument) →
/// tangents of the outputs. Not simplified.
[[nodiscard]] constexpr Graph jvp_graph(const Graph& graph,
                                        const std::vector<char>& with_respect_to) {
    detail::Forward forward(graph, graph.size());
    Graph& result = forward.graph();
    std::vector<int> tangent_argument(graph.arguments.size(), -1);
    for (std::size_t a = 0; a < graph.arguments.size(); ++a) {
        if (!with_respect_to[a]) continue;
        tangent_argument[a] = static_cast<int>(result.arguments.size());
        result.arguments.push_back(graph.arguments[a]);
    }
    for (int i = 0; i < graph.size(); ++i) {
        const Node& node = graph[i];
        if (node.op != Op::argument) continue;
        const int argument = tangent_argument[static_cast<std::size_t>(node.index)];
        if (argument >= 0)
            forward.set_tangent(i, result.push_argument(argument, node.offset, node.size));
    }
    forward.run();
    result.outputs.clear();
    for (const Output& output : graph.outputs) {
        std::vector<int> parts;
        for (int k = 0; k < output.count; ++k)
            parts.push_back(forward.tangent_or_zero_of(graph.output_node(output, k)).node());
        result.push_output(parts, output.size, output.is_scalar);
    }
    return std::move(result);
}

template <class P, int... argument>
constexpr Graph detail::JvpOf<P, argument...>::make() {
    const Graph graph = P::graph.thaw();
    return passes::simplify(jvp_graph(graph, argument_flags<argument...>(graph)));
}

/// The Jacobian–vector product (forward mode) of a program with respect to the given arguments, or
/// to all if none is given. It is a program from (x..., tangents of those arguments...) to the
/// tangents of the results.
template <int... argument, class Recipe>
[[nodiscard]] constexpr auto jvp(const Program<Recipe>&) {
    if constexpr (detail::check_arguments<Program<Recipe>, argument...>())
        return Program<detail::JvpOf<Program<Recipe>, argument...>>{};
}

}  // namespace eddy::inline v0
