#pragma once
// Gradients and Hessian–vector products of programs with one scalar result. The product is forward
// over reverse: the tangent of the gradient, at about twice the cost of the gradient.
// Test: tests/ad/gradient.cpp

#include <eddy/ad/jvp.hpp>
#include <eddy/ad/vjp.hpp>

namespace eddy::inline v0 {

/// The gradient of a graph with one scalar result: (x...) → cotangents of the flagged arguments.
/// Not simplified.
[[nodiscard]] constexpr Graph gradient_graph(const Graph& graph,
                                             const List<char>& with_respect_to) {
    const Graph pullback = vjp_graph(graph, with_respect_to);
    const int cotangent = static_cast<int>(graph.arguments.size());
    passes::Rebuild rebuild(pullback);
    for (int i = 0; i < pullback.size(); ++i) {
        const Node& node = pullback[i];
        const bool is_cotangent = node.op == Op::argument && node.index == cotangent;
        rebuild.set(i, is_cotangent ? rebuild.graph().push_constant(1) : rebuild.copy(node));
    }
    Graph result = rebuild.finish();
    result.arguments.pop_back();
    return result;
}

namespace detail {

template <class P, int... argument>
struct GradientOf : DerivativeOf<P> {
    static constexpr Graph make() {
        const Graph graph = P::graph.thaw();
        const List<char> flags = argument_flags<argument...>(graph);
        if constexpr (has_regions<P>) {
            const Graph program = passes::contract(graph);
            return join_halves(split_joint(program, gradient_graph(program, flags)), graph);
        } else {
            return passes::simplify(gradient_graph(graph, flags));
        }
    }
};

template <class P>
consteval bool check_scalar_result() {
    constexpr bool is_scalar = P::graph.num_outputs() == 1 && P::graph.outputs[0].size == 1;
    static_assert(
        is_scalar,
        "gradient: the program must have one scalar result; use vjp or jacobian for vectors");
    return is_scalar;
}

}  // namespace detail

/// The gradient of a program with one scalar result, with respect to the given arguments, or to all
/// if none is given. It keeps of each `remat` in the program what its policy allows.
template <int... argument, class Recipe>
[[nodiscard]] constexpr auto gradient(const Program<Recipe>&) {
    using P = Program<Recipe>;
    if constexpr (detail::check_scalar_result<P>() && detail::check_arguments<P, argument...>())
        return Program<detail::GradientOf<P, argument...>>{};
}

/// The Hessian–vector product of a program with one scalar result, with respect to one argument. It
/// is a program from (x..., direction) to the Hessian times the direction.
template <int argument, class Recipe>
[[nodiscard]] constexpr auto hvp(const Program<Recipe>& program) {
    using P = Program<Recipe>;
    if constexpr (detail::check_scalar_result<P>() && detail::check_arguments<P, argument>())
        return jvp<argument>(gradient<argument>(program));
}

}  // namespace eddy::inline v0
