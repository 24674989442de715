#pragma once
// The halves of a split program as one program again.
// Test: tests/ad/random_remat.cpp

#include <eddy/ad/split.hpp>

namespace eddy::inline v0 {

/// Both halves in one graph: (x..., cotangents of the results...) → cotangents. The residuals are
/// values of it, and what was dropped is computed again.
[[nodiscard]] constexpr Graph join_halves(const SplitGraph& split, const Graph& program) {
    const std::size_t num_results = program.outputs.size();
    const auto num_arguments = static_cast<int>(program.arguments.size());
    Graph graph;
    graph.arguments = split.backward.arguments;
    graph.arguments.erase(graph.arguments.begin() + num_arguments);
    List<int> residuals;  // (residual): its node
    const auto append = [&](const Graph& half) {
        const auto first_constant = static_cast<int>(graph.constants.size());
        const auto first_loop = static_cast<int>(graph.loops.size());
        graph.loops.insert(graph.loops.end(), half.loops.begin(), half.loops.end());
        graph.constants.insert(graph.constants.end(), half.constants.begin(), half.constants.end());
        List<int> map;
        for (Node node : half.nodes) {
            if (node.op == Op::argument && node.index == num_arguments &&
                &half == &split.backward) {
                std::size_t k = 0;
                while (split.residuals[k].offset != node.offset) ++k;
                map.push_back(residuals[k]);
                continue;
            }
            List<int> operands;
            for (int k = 0; k < node.count; ++k)
                operands.push_back(map[static_cast<std::size_t>(half.operand(node, k))]);
            if (node.op == Op::constant) node.offset += first_constant;
            if (is_loop_op(node.op)) node.index += first_loop;
            if (node.op == Op::argument && node.index > num_arguments) --node.index;
            map.push_back(graph.push_list(node, operands));
        }
        return map;
    };
    const List<int> forward = append(split.forward);
    if (split.residual_size > 0) {
        for (int node : passes::output_nodes(split.forward, num_results, num_results + 1))
            residuals.push_back(forward[static_cast<std::size_t>(node)]);
    }
    const List<int> backward = append(split.backward);
    for (const Output& output : split.backward.outputs) {
        List<int> list;
        for (int k = 0; k < output.count; ++k)
            list.push_back(
                backward[static_cast<std::size_t>(split.backward.output_node(output, k))]);
        graph.push_output(list, output.size, output.is_scalar);
    }
    return passes::eliminate_dead_code(graph);
}

}  // namespace eddy::inline v0
