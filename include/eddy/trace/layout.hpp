#pragma once
// Where the value of each node lives while a program is evaluated. Short values, constants and
// arguments among them, live in a register array that is only ever indexed by constants; long
// vectors live in a scratch array, whose space is reused as soon as its last reader is done; slices
// and long arguments are read where they are.

#include <eddy/core/static_for.hpp>
#include <eddy/trace/graph.hpp>

namespace eddy::inline v0 {

/// Where a node's components are found.
struct Place {
    enum Kind : unsigned char {
        registers,  // the register array
        scratch,    // the scratch array
        argument,   // argument `index`, from `offset` on
        product,    // an outer product, computed where it is read
        mask,       // the mask array
    };
    Kind kind = registers;
    int offset = 0;
    int index = 0;
    int node = -1;  // the node that owns the storage, which a slice shares
};

/// What evaluation does at a node, all that it needs to know of a scalar one in one piece:
/// compilers take their time to read a large constant, so each node is read once.
struct Instruction {
    enum Kind : unsigned char { nothing, scalar, general };
    Kind kind = nothing;
    Op op = Op::constant;
    int index = 0;
    Place::Kind to_kind = Place::registers;
    int to = 0;
    Place::Kind from_kind[3]{};
    int from[3]{};
    int count = 0;
};

/// The places of all nodes, what to do at each, and how much room they take.
template <int num_nodes>
struct Layout {
    Place places[num_nodes + 1];
    Instruction instructions[num_nodes + 1];
    int num_registers = 0;
    int num_masks = 0;
    int scratch_size = 0;
};

namespace detail {

/// First-fit allocation of scratch ranges by lifetime.
class ScratchAllocator {
  public:
    constexpr int allocate(int size, int last_use) {
        int begin = 0;
        for (bool moved = true; moved;) {
            moved = false;
            for (const Range& range : live_) {
                if (begin < range.end && range.begin < begin + size) {
                    begin = range.end;
                    moved = true;
                }
            }
        }
        live_.push_back({begin, begin + size, last_use});
        size_ = begin + size > size_ ? begin + size : size_;
        return begin;
    }
    /// Frees what nobody reads after node `i`. A node may not overwrite its own operands, so call
    /// it after allocating i.
    constexpr void retire(int i) {
        std::size_t kept = 0;
        for (const Range& range : live_) {
            if (range.last_use > i) live_[kept++] = range;
        }
        live_.resize(kept);
    }
    [[nodiscard]] constexpr int size() const { return size_; }

  private:
    struct Range {
        int begin, end, last_use;
    };
    std::vector<Range> live_;
    int size_ = 0;
};

/// The last node that reads each node's storage; readers through slices, outer products and other nodes
/// that are computed where they are read, is_read_later(i), count; outputs read at the end.
template <class Code, class IsReadLater>
constexpr std::vector<int> last_uses(const Code& code, const IsReadLater& is_read_later) {
    const int count = code.sizes.nodes;
    std::vector<int> last(static_cast<std::size_t>(count), -1);
    for (const Output& output : code.outputs) {
        for (int k = 0; k < output.count; ++k)
            last[static_cast<std::size_t>(code.operands[output.first + k])] = count;
    }
    for (int i = count - 1; i >= 0; --i) {
        const Node& node = code.nodes[i];
        const bool is_view = node.op == Op::slice || node.op == Op::outer || is_read_later(i);
        const int read = is_view ? last[static_cast<std::size_t>(i)] : i;
        for (int k = 0; k < node.count; ++k) {
            int& use = last[static_cast<std::size_t>(code.operands[node.first + k])];
            use = use > read ? use : read;
        }
    }
    return last;
}
template <class Code>
constexpr std::vector<int> last_uses(const Code& code) {
    return last_uses(code, [](int) { return false; });
}

}  // namespace detail

namespace detail {

template <class Code, class Places>
constexpr Instruction make_instruction(const Code& code, const Places& places, int i) {
    const Node& node = code.nodes[i];
    const Place place = places[i];
    if (place.node != i || place.kind == Place::argument || place.kind == Place::product) return {};
    Instruction instruction{Instruction::general, node.op, node.index, place.kind,
                            place.offset,         {},      {},         node.count};
    if (!is_elementwise(node.op) || node.op == Op::barrier || node.size != 1) return instruction;
    for (int k = 0; k < node.count; ++k) {
        const Place from = places[code.operands[node.first + k]];
        if (from.kind == Place::argument || from.kind == Place::product) return instruction;
        instruction.from_kind[k] = from.kind;
        instruction.from[k] = from.offset;
    }
    instruction.kind = Instruction::scalar;
    return instruction;
}

}  // namespace detail

template <class Code>
[[nodiscard]] constexpr auto make_layout(const Code& code) {
    Layout<Code::size()> layout{};
    const std::vector<int> last = detail::last_uses(code);
    detail::ScratchAllocator scratch;
    for (int i = 0; i < Code::size(); ++i) {
        const Node& node = code.nodes[i];
        Place& place = layout.places[i];
        place.node = i;
        if (node.op == Op::argument && node.size > longest_unrolled) {
            place = {Place::argument, node.offset, node.index, i};
        } else if (node.op == Op::slice) {
            place = layout.places[code.operands[node.first]];
            place.offset += node.offset;
        } else if (node.op == Op::outer) {
            place.kind = Place::product;
        } else if (is_mask(node.op)) {
            place = {Place::mask, layout.num_masks, 0, i};
            layout.num_masks += node.size;
        } else if (node.size <= longest_unrolled) {
            place = {Place::registers, layout.num_registers, 0, i};
            layout.num_registers += node.size;
        } else {
            place = {Place::scratch, scratch.allocate(node.size, last[static_cast<std::size_t>(i)]),
                     0, i};
        }
        scratch.retire(i);
    }
    layout.scratch_size = scratch.size();
    for (int i = 0; i < Code::size(); ++i)
        layout.instructions[i] = detail::make_instruction(code, layout.places, i);
    return layout;
}

}  // namespace eddy::inline v0
