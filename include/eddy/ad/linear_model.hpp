#pragma once
// f(t, y, p), the non-zeros of its Jacobian ∂f/∂y and its time derivative ∂f/∂t as one program: what
// they have in common is computed once. Programs derived from it, such as its pullback, share in the
// same way.
// Test: tests/ad/linear_model.cpp

#include <eddy/ad/jacobian.hpp>

namespace eddy::inline v0 {

namespace detail {

/// The nodes that a result is made of.
constexpr List<int> nodes_of(const Graph& graph, const Output& output) {
    List<int> nodes;
    for (int k = 0; k < output.count; ++k) nodes.push_back(graph.output_node(output, k));
    return nodes;
}

/// Appends ∂(result 0)/∂t of the first `primal` nodes and returns the nodes that it is made of. t is
/// the argument 0, a scalar.
constexpr List<int> append_time_derivative(Graph& graph, const Graph& primal) {
    Forward forward(std::move(graph), primal.size());
    seed_group(forward, primal.size(), 0, {0}, 0);
    forward.run();
    List<int> parts;
    for (const int node : nodes_of(primal, primal.outputs[0]))
        parts.push_back(forward.tangent_or_zero_of(node).node());
    graph = std::move(forward.graph());
    return parts;
}

}  // namespace detail

/// The results f, then the non-zeros of ∂f/∂y where there are any, then ∂f/∂t where f depends on t. Not
/// simplified.
[[nodiscard]] constexpr Graph linear_model_graph(const Graph& graph,
                                                 const detail::JacobianPlan& plan,
                                                 bool depends_on_time) {
    Graph model = jacobian_graph(graph, 1, plan);
    const int num_nonzeros = model.outputs[0].size;
    const bool has_jacobian = num_nonzeros > 0;
    const List<int> jacobian = detail::nodes_of(model, model.outputs[0]);
    List<int> slope;
    if (depends_on_time) slope = detail::append_time_derivative(model, graph);
    const int size = graph.outputs[0].size;
    model.outputs.clear();
    model.push_output(detail::nodes_of(graph, graph.outputs[0]), size, false);
    if (has_jacobian) model.push_output(jacobian, num_nonzeros, false);
    if (depends_on_time) model.push_output(slope, size, false);
    return model;
}

namespace detail {

/// May an entry of the Jacobian be infinite where f is not? Not without a division, or a function that has a pole or a
/// vertical tangent.
constexpr bool may_have_infinite_slopes(const Graph& graph) {
    for (int i = 0; i < graph.size(); ++i) {
        const Op op = graph[i].op;
        const bool divides = op == Op::div && graph[graph.operand(i, 1)].op != Op::constant;
        const bool has_pole = op == Op::log || op == Op::log1p || op == Op::tan ||
                              op == Op::atan2 || op == Op::lgamma || op == Op::digamma ||
                              op == Op::polygamma || (op == Op::powi && graph[i].index < 0);
        const bool is_steep = op == Op::sqrt || op == Op::cbrt || op == Op::pow || op == Op::asin ||
                              op == Op::acos || op == Op::norm;
        if (divides || has_pole || is_steep) return true;
    }
    return false;
}

template <class P>
struct LinearModelOf {
    static constexpr int expected_nodes = 6 * P::graph.size() + 64;
    static constexpr Graph make() {
        return passes::simplify(linear_model_graph(P::graph.thaw(), JacobianPlanOf<P, 1>::plan(),
                                                   JacobianPlanOf<P, 0>::num_nonzeros > 0));
    }
};

}  // namespace detail

/// The linear model of program P, a vector field f(t, y, p).
template <class P>
struct LinearModel {
    static constexpr int size = P::graph.outputs[0].size;
    static constexpr int num_nonzeros = detail::JacobianPlanOf<P, 1>::num_nonzeros;
    static constexpr bool has_jacobian = num_nonzeros > 0;
    static constexpr bool depends_on_time = detail::JacobianPlanOf<P, 0>::num_nonzeros > 0;
    static constexpr bool may_be_infinite = detail::may_have_infinite_slopes(P::graph.thaw());
    /// Where the Jacobian may be non-zero, in the order of its values.
    [[nodiscard]] static constexpr List<JacobianEntry> pattern() {
        return detail::JacobianPlanOf<P, 1>::entries();
    }
    using Values = Program<detail::LinearModelOf<P>>;
    /// Which result is which.
    static constexpr int jacobian_output = has_jacobian ? 1 : -1;
    static constexpr int slope_output = !depends_on_time ? -1 : has_jacobian ? 2 : 1;
};

}  // namespace eddy::inline v0
