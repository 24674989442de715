#pragma once
// The vector–Jacobian product of a program. Where `remat` was called in it, what that drops is computed
// again: the program is split (ad/split.hpp), and the halves are joined to one.
// Test: tests/ad/random_derivatives.cpp, tests/ad/operations_vector.cpp

#include <eddy/ad/join_halves.hpp>
#include <eddy/ad/reverse_loop.hpp>
#include <eddy/ad/split.hpp>

namespace eddy::inline v0 {
namespace detail {

template <class P>
inline constexpr bool has_regions = P::graph.sizes.regions > 1;

/// Recipes of derivatives: simplified, and contracted like any program; but one that recomputes is
/// contracted already, and merging would undo the recomputation.
template <class P>
struct DerivativeOf {
    static constexpr int expected_nodes = (has_regions<P> ? 6 : 4) * P::graph.size() + 64;
    static constexpr Graph finish(const Graph& graph) {
        if constexpr (has_regions<P>) {
            return graph;
        } else {
            return finish_code(graph);
        }
    }
};

template <class P, int... argument>
struct VjpOf : DerivativeOf<P> {
    static constexpr Graph make() {
        const Graph graph = P::graph.thaw();
        const List<char> flags = argument_flags<argument...>(graph);
        if constexpr (has_regions<P>) {
            return join_halves(split_graph(graph, flags), graph);
        } else {
            return passes::simplify(vjp_graph(graph, flags));
        }
    }
};

}  // namespace detail

/// The vector–Jacobian product (reverse mode) of a program with respect to the given arguments, or
/// to all if none is given. It is a program from (x..., cotangents of the results...) to the
/// cotangents of those arguments. It keeps of each `remat` in the program what its policy allows.
template <int... argument, class Recipe>
[[nodiscard]] constexpr auto vjp(const Program<Recipe>&) {
    if constexpr (detail::check_arguments<Program<Recipe>, argument...>())
        return Program<detail::VjpOf<Program<Recipe>, argument...>>{};
}

}  // namespace eddy::inline v0
