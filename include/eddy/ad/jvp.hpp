#pragma once
// The Jacobian–vector product of a program.
// Test: tests/ad/random_derivatives.cpp, tests/ad/operations_vector.cpp

#include <eddy/ad/forward_loop.hpp>

namespace eddy::inline v0 {
namespace detail {

template <class P, int... argument>
struct JvpOf {
    static constexpr int expected_nodes = 4 * P::graph.size() + 64;
    static constexpr Graph make();
};

}  // namespace detail

/// The Jacobian–vector product of a graph: arguments (x..., one tangent per flagged argument) →
/// tangents of the outputs. Not simplified.
[[nodiscard]] constexpr Graph jvp_graph(const Graph& graph, const List<char>& with_respect_to) {
    detail::Forward forward(graph, graph.size());
    Graph& result = forward.graph();
    List<int> tangent_argument(graph.arguments.size(), -1);
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
        List<int> parts;
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
