#pragma once
// What of a program on a tile is not stored. A chain of elementwise operations goes once through the rows
// of its operands, not once for each operation; a concatenation is read piece by piece where it is wanted,
// as a stencil wants its neighbours. Every operation is what it was, on the same numbers: bits stay.
// Test: tests/trace/tile_fusion.cpp

#include <eddy/trace/layout.hpp>

namespace eddy::inline v0::detail {

enum class TileRole : unsigned char {
    stored,
    alias,   // the value of its operand
    fused,   // computed by its only reader
    pieces,  // a concatenation, read where its parts are
};

/// Vectors that one pass reads: beyond, registers for them and their addresses run out.
inline constexpr int most_fused_operands = 8;

/// An operation that computes numbers component by component, no copy.
[[nodiscard]] constexpr bool computes_elements(Op op) {
    return is_elementwise(op) && !is_identity(op);
}

/// Who reads each node.
struct TileReaders {
    std::vector<int> count, last;                  // (node)
    std::vector<char> is_result, are_elementwise;  // (node): all of them, and of its own size
};
template <class Code>
constexpr TileReaders tile_readers(const Code& code) {
    const auto count = static_cast<std::size_t>(code.sizes.nodes);
    TileReaders readers{std::vector<int>(count, 0), std::vector<int>(count, -1),
                        std::vector<char>(count, 0), std::vector<char>(count, 1)};
    for (int i = 0; i < code.sizes.nodes; ++i) {
        const Node& node = code.nodes[i];
        for (int k = 0; k < node.count; ++k) {
            const int read = code.operands[node.first + k];
            const auto at = static_cast<std::size_t>(read);
            ++readers.count[at];
            readers.last[at] = i;
            if (!computes_elements(node.op) || node.size != code.nodes[read].size)
                readers.are_elementwise[at] = 0;
        }
    }
    for (const Output& output : code.outputs) {
        for (int k = 0; k < output.count; ++k)
            readers.is_result[static_cast<std::size_t>(code.operands[output.first + k])] = 1;
    }
    return readers;
}

/// What the pass that computes a node reads, each vector once.
struct FusedOperands {
    int node[most_fused_operands + 1] = {};
    int count = 0;

    constexpr void add(int wanted) {
        if (place_of(wanted) < 0) node[count++] = wanted;
    }
    /// The place of a node among them; −1: it is computed in the pass.
    [[nodiscard]] constexpr int place_of(int wanted) const {
        for (int k = 0; k < count; ++k) {
            if (node[k] == wanted) return k;
        }
        return -1;
    }
};
/// Those of a pass that computes node i as well, which it would have read.
[[nodiscard]] constexpr FusedOperands with(const FusedOperands& pass, int i,
                                           const FusedOperands& of_i) {
    FusedOperands both = of_i;
    for (int k = 0; k < pass.count; ++k) {
        if (pass.node[k] != i && both.count <= most_fused_operands) both.add(pass.node[k]);
    }
    return both;
}

template <class Code>
[[nodiscard]] constexpr std::vector<TileRole> tile_roles(const Code& code) {
    const TileReaders readers = tile_readers(code);
    const auto count = static_cast<std::size_t>(code.sizes.nodes);
    std::vector<TileRole> roles(count, TileRole::stored);
    std::vector<FusedOperands> passes(count);  // (node)
    for (std::size_t i = 0; i < count; ++i) {
        const Node& node = code.nodes[i];
        if (!computes_elements(node.op) || node.size == 1) continue;
        for (int k = 0; k < node.count; ++k) passes[i].add(code.operands[node.first + k]);
    }
    for (std::size_t i = 0; i < count; ++i) {
        const Node& node = code.nodes[i];
        if (is_identity(node.op)) {
            const Node& of = code.nodes[code.operands[node.first]];
            if (of.size == node.size && readers.is_result[i] == 0) roles[i] = TileRole::alias;
        } else if (node.size == 1 || readers.is_result[i] != 0 || readers.count[i] == 0 ||
                   readers.are_elementwise[i] == 0) {
            continue;  // of single numbers there would be many passes to compile, and little to win
        } else if (node.op == Op::concat) {
            if (node.count <= most_fused_operands) roles[i] = TileRole::pieces;
        } else if (computes_elements(node.op) && readers.count[i] == 1) {
            FusedOperands& of_reader = passes[static_cast<std::size_t>(readers.last[i])];
            const FusedOperands both = with(of_reader, static_cast<int>(i), passes[i]);
            if (both.count > most_fused_operands) continue;
            of_reader = both;
            roles[i] = TileRole::fused;
        }
    }
    return roles;
}

template <class Code, class Places>
constexpr void collect_operands(const Code& code, const Places& is_fused, int i,
                                FusedOperands& operands) {
    const Node& node = code.nodes[i];
    for (int k = 0; k < node.count; ++k) {
        const int read = code.operands[node.first + k];
        if (is_fused(read))
            collect_operands(code, is_fused, read, operands);
        else
            operands.add(read);
    }
}

}  // namespace eddy::inline v0::detail
