#pragma once
// Vectors that are zero but at places that are computed: what is read off a table has such a cotangent. A
// result that is added to a sum needs no more of it than its places and what stands there; the vector itself
// is never made.
// Test: tests/trace/interpolate.cpp

#include <algorithm>
#include <bit>
#include <cstdint>
#include <eddy/trace/graph.hpp>

namespace eddy::inline v0::detail {

/// Is constant node i zero, and of positive sign?
template <class Items>
[[nodiscard]] constexpr bool is_zeros(const Items& graph, int i) {
    const Node& node = graph.nodes[static_cast<std::size_t>(i)];
    if (node.op != Op::constant) return false;
    for (int k = 0; k < node.size; ++k) {
        const double value = graph.constants[static_cast<std::size_t>(node.offset + k)];
        if (std::bit_cast<std::uint64_t>(value) != 0) return false;
    }
    return true;
}

/// Is node i made of zeros, to which numbers are added at places?
template <class Items>
[[nodiscard]] constexpr bool is_sparse(const Items& graph, int i) {
    const auto node = [&](int k) { return graph.nodes[static_cast<std::size_t>(k)]; };
    if (node(i).op != Op::add_at) return false;
    while (node(i).op == Op::add_at) i = graph.operands[static_cast<std::size_t>(node(i).first)];
    return is_zeros(graph, i);
}

/// One flag per node: is it a sparse part of a result, which nothing else reads?
template <class Code>
[[nodiscard]] constexpr List<char> sparse_parts(const Code& code, int result) {
    const auto count = static_cast<std::size_t>(code.sizes.nodes);
    List<char> is_part(count, 0);
    if (result < 0 || result >= code.sizes.outputs) return is_part;
    List<int> readers(count, 0);
    for (const Node& node : code.nodes) {
        for (int k = 0; k < node.count; ++k)
            ++readers[static_cast<std::size_t>(code.operands[node.first + k])];
    }
    for (const Output& output : code.outputs) {
        for (int k = 0; k < output.count; ++k)
            ++readers[static_cast<std::size_t>(code.operands[output.first + k])];
    }
    const Output& output = code.outputs[result];
    for (int k = 0; k < output.count; ++k) {
        int i = code.operands[output.first + k];
        if (!is_sparse(code, i)) continue;
        bool is_read_once = true;
        for (int j = i; code.nodes[j].op == Op::add_at; j = code.operands[code.nodes[j].first])
            is_read_once = is_read_once && readers[static_cast<std::size_t>(j)] == 1;
        for (; is_read_once && code.nodes[i].op == Op::add_at;
             i = code.operands[code.nodes[i].first])
            is_part[static_cast<std::size_t>(i)] = 1;
    }
    return is_part;
}
template <class Code>
[[nodiscard]] constexpr bool has_sparse_parts(const Code& code, int result) {
    bool any = false;
    for (int i = 0; i < code.sizes.nodes; ++i) any = any || code.nodes[i].op == Op::add_at;
    if (!any) return false;                               // most programs
    const List<char> parts = sparse_parts(code, result);  // nvcc loses one without a name
    return std::find(parts.begin(), parts.end(), 1) != parts.end();
}

}  // namespace eddy::inline v0::detail
