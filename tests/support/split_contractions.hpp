#pragma once
// Contracted operations taken apart into a product and a sum, each rounded: what contraction made
// them from.

#include <algorithm>
#include <eddy/trace/passes/rebuild.hpp>

namespace support {

inline eddy::Graph split_contractions(const eddy::Graph& graph) {
    using eddy::Node;
    using eddy::Op;
    eddy::passes::Rebuild rebuild(graph);
    for (int i = 0; i < graph.size(); ++i) {
        const Node& node = graph[i];
        if (node.op != Op::mul_add && node.op != Op::mul_sub && node.op != Op::neg_mul_add) {
            rebuild.set(i, rebuild.copy(node));
            continue;
        }
        const int a = rebuild.operand(node, 0), b = rebuild.operand(node, 1),
                  c = rebuild.operand(node, 2);
        eddy::Graph& to = rebuild.graph();
        const int product =
            to.push({.op = Op::mul, .size = std::max(to[a].size, to[b].size)}, a, b);
        const bool is_first = node.op != Op::neg_mul_add;
        const Op op = node.op == Op::mul_add ? Op::add : Op::sub;
        rebuild.set(i, to.push({.op = op, .size = node.size}, is_first ? product : c,
                               is_first ? c : product));
    }
    return rebuild.finish();
}

}  // namespace support
