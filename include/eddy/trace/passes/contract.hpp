#pragma once
// Contraction: a·b + c, a·b − c and c − a·b become one operation where the product has no other
// use. This is the only pass that changes a rounding (one instead of two, on machines that fuse);
// docs/design/semantics.md.
// Test: tests/trace/passes/contract.cpp

#include <eddy/trace/loop_structure.hpp>
#include <eddy/trace/passes/dce.hpp>

namespace eddy::inline v0::passes {
namespace detail {

/// The contraction of add or sub node `i`: which operand is the product (or -1 for none), and what
/// the pair becomes.
struct Contraction {
    int product = -1;
    Op op = Op::mul_add;
};

[[nodiscard]] constexpr Contraction contraction_of(const Graph& graph, int i, const List<int>& uses,
                                                   const List<char>& frozen,
                                                   const List<int>& loop_of) {
    const Node& node = graph[i];
    if ((node.op != Op::add && node.op != Op::sub) || frozen[static_cast<std::size_t>(i)])
        return {};
    const auto is_single_product = [&](int operand) {
        const auto o = static_cast<std::size_t>(operand);
        return graph[operand].op == Op::mul && uses[o] == 1 && !frozen[o] &&
               loop_of[o] == loop_of[static_cast<std::size_t>(i)];  // else it moves into the turns
    };
    if (is_single_product(graph.operand(node, 0)))
        return {0, node.op == Op::add ? Op::mul_add : Op::mul_sub};
    if (is_single_product(graph.operand(node, 1)))
        return {1, node.op == Op::add ? Op::mul_add : Op::neg_mul_add};
    return {};
}

/// The region of a contracted pair: that of the product, whose operands the way back reads, unless
/// the sum is in a region within it.
[[nodiscard]] constexpr int region_of_pair(const Graph& graph, int product_region, int sum_region) {
    int region = sum_region;
    while (region > product_region)  // parents are numbered below their children
        region = graph.regions[static_cast<std::size_t>(region)].parent;
    return region == product_region ? sum_region : product_region;
}

}  // namespace detail

/// Contracts all nodes but those marked in `frozen` (one flag per node). Expects a graph without
/// dead code: a use that nobody needs still counts.
[[nodiscard]] constexpr Graph contract(const Graph& graph, const List<char>& frozen) {
    List<int> uses(graph.nodes.size(), 0);
    for (int i = 0; i < graph.size(); ++i) {
        for (int k = 0; k < graph[i].count; ++k)
            ++uses[static_cast<std::size_t>(graph.operand(i, k))];
    }
    for (int node : output_nodes(graph, 0, graph.outputs.size()))
        ++uses[static_cast<std::size_t>(node)];

    const List<int> loop_of = eddy::detail::loops_of_nodes(graph, graph.size());
    List<detail::Contraction> found(graph.nodes.size());
    List<char> absorbed(graph.nodes.size(), 0);
    for (int i = 0; i < graph.size(); ++i) {
        auto& contraction = found[static_cast<std::size_t>(i)];
        contraction = detail::contraction_of(graph, i, uses, frozen, loop_of);
        if (contraction.product >= 0)
            absorbed[static_cast<std::size_t>(graph.operand(i, contraction.product))] = 1;
    }

    Rebuild rebuild(graph);
    for (int i = 0; i < graph.size(); ++i) {
        const Node& node = graph[i];
        const auto [which, op] = found[static_cast<std::size_t>(i)];
        if (absorbed[static_cast<std::size_t>(i)]) continue;
        if (which < 0) {
            rebuild.set(i, rebuild.copy(node));
            continue;
        }
        const Node& product = graph[graph.operand(node, which)];
        const Node fused{.op = op, .size = node.size};
        const int other = rebuild.operand(node, 1 - which);
        rebuild.graph().current_region = detail::region_of_pair(graph, product.region, node.region);
        rebuild.set(i, rebuild.graph().push(fused, rebuild.operand(product, 0),
                                            rebuild.operand(product, 1), other));
    }
    rebuild.graph().current_region = 0;
    return rebuild.finish();
}

[[nodiscard]] constexpr Graph contract(const Graph& graph) {
    return contract(graph, List<char>(graph.nodes.size(), 0));
}

}  // namespace eddy::inline v0::passes
