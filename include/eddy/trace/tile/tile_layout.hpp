#pragma once
// Where the value of each node lives while a program is evaluated on a tile. Arguments, constants and
// slices are read where they are; a value that is (part of) a result is computed where the result is
// wanted; the rest lies in rows of scratch memory, which are used again as soon as their last reader is
// done. An outer product that is a part of a result which is summed over lanes is no value at all: what
// it is made of goes to the sum. Nor is a concatenation that elementwise operations alone read, nor an
// elementwise operation that one other alone reads: that one computes it on its way (tile_fusion.hpp).
// Test: tests/trace/tile_fusion.cpp

#include <eddy/trace/sparse_parts.hpp>
#include <eddy/trace/tile/tile_fusion.hpp>

namespace eddy::inline v0::detail {

struct TilePlace {
    enum Kind : unsigned char { scratch, argument, constant, output, product, pieces, fused, none };
    Kind kind = scratch;
    int index = 0;   // of the argument or output
    int offset = 0;  // row; component of an argument; place in the pool of constants
    int node = -1;   // the node that owns the storage, which a slice shares
};

template <int num_nodes>
struct TileLayout {
    TilePlace places[num_nodes + 1];
    int num_rows = 0;  // of scratch memory
};

/// Do readers other than results read the node?
template <class Code>
constexpr std::vector<char> nodes_read(const Code& code) {
    std::vector<char> read(static_cast<std::size_t>(code.sizes.nodes), 0);
    for (int i = 0; i < code.sizes.nodes; ++i) {
        const Node& node = code.nodes[i];
        for (int k = 0; k < node.count; ++k)
            read[static_cast<std::size_t>(code.operands[node.first + k])] = 1;
    }
    return read;
}

/// The first place among the results that asks for node i; those of result `summed` have none.
template <class Code>
constexpr TilePlace place_in_results(const Code& code, int i, int summed) {
    for (int o = 0; o < code.sizes.outputs; ++o) {
        if (o == summed) continue;
        int begin = 0;
        for (int k = 0; k < code.outputs[o].count; ++k) {
            const int node = code.operands[code.outputs[o].first + k];
            if (node == i) return {TilePlace::output, o, begin, i};
            begin += code.nodes[node].size;
        }
    }
    return {};
}

/// `summed`: the result that is summed over lanes; −1: none.
template <class Code>
[[nodiscard]] constexpr auto make_tile_layout(const Code& code, int summed) {
    TileLayout<Code::size()> layout{};
    const std::vector<TileRole> roles = tile_roles(code);
    const std::vector<char> is_sparse = sparse_parts(code, summed);
    const std::vector<int> last = last_uses(code, [&](int i) {
        const auto k = static_cast<std::size_t>(i);
        return roles[k] != TileRole::stored || is_sparse[k] != 0;
    });
    const std::vector<char> read = nodes_read(code);
    ScratchAllocator scratch;
    for (int i = 0; i < Code::size(); ++i) {
        const Node& node = code.nodes[i];
        const auto k = static_cast<std::size_t>(i);
        TilePlace& place = layout.places[i];
        const TilePlace result = place_in_results(code, i, summed);
        if (node.op == Op::argument) {
            place = {TilePlace::argument, node.index, node.offset, i};
        } else if (node.op == Op::constant) {
            place = {TilePlace::constant, 0, node.offset, i};
        } else if (node.op == Op::slice) {
            place = layout.places[code.operands[node.first]];
            place.offset += node.offset;
        } else if (roles[k] == TileRole::alias) {
            place = layout.places[code.operands[node.first]];
        } else if (roles[k] != TileRole::stored) {
            place.kind = roles[k] == TileRole::fused ? TilePlace::fused : TilePlace::pieces;
            place.node = i;
        } else if (result.node == i) {
            place = result;
        } else if (is_sparse[k] != 0) {
            place.kind = TilePlace::none;
        } else if (node.op == Op::outer && read[k] == 0) {
            place = {TilePlace::product, 0, 0, i};
        } else {
            place = {TilePlace::scratch, 0, scratch.allocate(node.size, last[k]), i};
        }
        scratch.retire(i);
    }
    layout.num_rows = scratch.size();
    return layout;
}

/// The longest vector that the program computes: what decides how many lanes are taken at a time.
template <class Code>
[[nodiscard]] constexpr int longest_vector(const Code& code) {
    int longest = 1;
    for (int i = 0; i < code.sizes.nodes; ++i) {
        const Node& node = code.nodes[i];
        const bool is_computed = node.op != Op::argument && node.op != Op::constant &&
                                 node.op != Op::slice && node.op != Op::outer &&
                                 !is_sparse(code, i);
        if (is_computed && node.size > longest) longest = node.size;
    }
    return longest;
}

}  // namespace eddy::inline v0::detail
