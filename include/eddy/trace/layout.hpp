#pragma once
// Where the value of each node lives while a program is evaluated. Short values, constants and
// arguments among them, live in a register array that is only ever indexed by constants; long
// vectors live in a scratch array, whose space is reused as soon as its last reader is done; slices
// and long arguments are read where they are.
// Test: tests/trace/random_functions.cpp, tests/trace/node_counts.cpp

#include <eddy/core/static_for.hpp>
#include <eddy/trace/loop_places.hpp>
#include <eddy/trace/sparse_parts.hpp>

namespace eddy::inline v0 {

/// Where a node's components are found.
struct Place {
    enum Kind : unsigned char {
        registers,  // the register array
        scratch,    // the scratch array
        argument,   // argument `index`, from `offset` on
        product,    // an outer product, computed where it is read
        parts,      // a concat, read where its parts are
        result,     // result `index`, from `offset` on
        mask,       // the mask array
        constant,   // the pool of constants
        none,       // a sparse part of a result that is summed
    };
    Kind kind = registers;
    int offset = 0;
    int index = 0;
    int node = -1;  // the node that owns the storage, which a slice shares
    int loop = -1;  // its turns move the place on, by `stride` each
    int stride = 0;
};

[[nodiscard]] constexpr bool lie_together(const Place& whole, const Place& part, int begin) {
    return whole.kind == part.kind && whole.index == part.index && part.loop < 0 &&
           whole.offset + begin == part.offset;
}

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
    /// What begins there lives until node `last_use` too.
    constexpr void extend(int begin, int last_use) {
        for (Range& range : live_) {
            if (range.begin == begin && range.last_use < last_use) range.last_use = last_use;
        }
    }
    [[nodiscard]] constexpr int size() const { return size_; }

  private:
    struct Range {
        int begin, end, last_use;
    };
    List<Range> live_;
    int size_ = 0;
};

/// The last node that reads each node's storage; readers through slices, outer products and other nodes
/// that are computed where they are read, is_read_later(i), count; outputs read at the end.
/// Expects loops in the order of evaluation: what one reads from outside lives until it ends.
template <class Code, class IsReadLater>
constexpr List<int> last_uses(const Code& code, const IsReadLater& is_read_later) {
    const int count = code.sizes.nodes;
    const List<int> loop_of = loops_of_nodes(code, count);
    const LoopTree tree(code, loop_of);
    List<int> last(static_cast<std::size_t>(count), -1);
    for (const Output& output : code.outputs) {
        for (int k = 0; k < output.count; ++k)
            last[static_cast<std::size_t>(code.operands[output.first + k])] = count;
    }
    for (int i = count - 1; i >= 0; --i) {
        const Node& node = code.nodes[i];
        const bool is_view = node.op == Op::slice || node.op == Op::outer || is_read_later(i);
        const int read = is_view ? last[static_cast<std::size_t>(i)] : i;
        for (int k = 0; k < node.count; ++k) {
            const auto from = static_cast<std::size_t>(code.operands[node.first + k]);
            int until = read;
            if (node.op == Op::loop && k == 0) until = last[static_cast<std::size_t>(i)];
            if (node.op == Op::loop && k == 1) until = code.operands[node.first];  // its carry
            int loop = loop_of[static_cast<std::size_t>(i)];
            for (; !tree.is_within(loop_of[from], loop);
                 loop = tree.parents[static_cast<std::size_t>(loop)]) {
                const int end = tree.ends[static_cast<std::size_t>(loop)];
                until = until > end ? until : end;
            }
            last[from] = last[from] > until ? last[from] : until;
        }
    }
    return last;
}

/// What is read at a place that is computed, the turn of a loop or an index, lies in memory: an array
/// that is indexed so is kept in no register.
template <class Code>
constexpr List<char> nodes_in_memory(const Code& code, const List<char>& is_walked) {
    List<char> in_memory(static_cast<std::size_t>(code.sizes.nodes), 0);
    for (int i = code.sizes.nodes - 1; i >= 0; --i) {
        const Node& node = code.nodes[i];
        const bool passes_on = node.op == Op::slice || node.op == Op::loop;
        for (int k = 0; is_walked[static_cast<std::size_t>(i)] && k < node.count; ++k) {
            const int part = code.operands[node.first + k];
            in_memory[static_cast<std::size_t>(part)] |= code.nodes[part].size > 1;
        }
        if (node.op == Op::add_at) in_memory[static_cast<std::size_t>(i)] = node.size > 1;
        if (node.op == Op::element || node.op == Op::at || node.op == Op::knot ||
            (passes_on && in_memory[static_cast<std::size_t>(i)])) {
            char& from = in_memory[static_cast<std::size_t>(code.operands[node.first])];
            from = code.nodes[code.operands[node.first]].size > 1;
        }
    }
    return in_memory;
}

template <class Code, class Places>
constexpr Instruction make_instruction(const Code& code, const Places& places, int i) {
    const Node& node = code.nodes[i];
    const Place place = places[i];
    if (node.op == Op::loop) return {.kind = Instruction::general, .op = Op::loop};
    if (node.op == Op::carry || node.op == Op::turns || node.op == Op::stacked)
        return {};  // their loop writes them
    if (place.node != i || place.kind == Place::argument || place.kind == Place::constant ||
        place.kind == Place::product || place.kind == Place::parts)
        return {};
    Instruction instruction{Instruction::general, node.op, node.index, place.kind,
                            place.offset,         {},      {},         node.count};
    if (!is_elementwise(node.op) || node.op == Op::barrier || node.size != 1) return instruction;
    for (int k = 0; k < node.count; ++k) {
        const Place from = places[code.operands[node.first + k]];
        if (from.kind == Place::argument || from.kind == Place::constant ||
            from.kind == Place::product || from.loop >= 0)
            return instruction;
        instruction.from_kind[k] = from.kind;
        instruction.from[k] = from.offset;
    }
    instruction.kind = Instruction::scalar;
    return instruction;
}

}  // namespace detail

/// `are_apart`: results lie apart from arguments. `summed`: the result that is added to a sum; −1: none.
template <class Code>
[[nodiscard]] constexpr auto make_layout(const Code& code, bool are_apart = false,
                                         int summed = -1) {
    Layout<Code::size()> layout{};
    const List<char> is_walked = detail::walked_concats(code);
    const List<detail::ResultPlace> results = detail::stacked_results(code);
    const List<char> is_sparse = detail::sparse_parts(code, summed);
    const List<int> last = detail::last_uses(code, [&](int i) {
        const auto k = static_cast<std::size_t>(i);
        return is_walked[k] != 0 || is_sparse[k] != 0;
    });
    const List<char> in_memory = detail::nodes_in_memory(code, is_walked);
    const detail::LoopPlaces loop_places(code, last, in_memory);
    detail::ScratchAllocator scratch;
    const auto allocate = [&](int i) {
        const detail::ResultPlace& result = results[static_cast<std::size_t>(i)];
        if (are_apart && result.output >= 0)
            return Place{Place::result, result.offset, result.output, i};
        const detail::SharedPlace& shared = loop_places.shared()[static_cast<std::size_t>(i)];
        if (shared.of >= 0) {
            const int begin = layout.places[shared.of].offset;
            scratch.extend(begin, last[static_cast<std::size_t>(i)]);
            return Place{Place::scratch, begin + shared.offset, 0, i};
        }
        const int slots = detail::num_slots(code, i), size = code.nodes[i].size;
        const int room = slots == 0 ? size : size / code.loops[code.nodes[i].index].length * slots;
        return Place{Place::scratch, scratch.allocate(room, last[static_cast<std::size_t>(i)]), 0,
                     i};
    };
    for (int i = 0; i < Code::size(); ++i) {
        const Node& node = code.nodes[i];
        Place& place = layout.places[i];
        if (node.op == Op::stacked) continue;  // placed where its loop begins
        if (is_sparse[static_cast<std::size_t>(i)]) {
            place.kind = Place::none;
            continue;
        }
        const bool is_in_memory = in_memory[static_cast<std::size_t>(i)];
        place.node = i;
        if (node.op == Op::carry) {
            for (int s = i + 1; s < Code::size(); ++s) {
                if (code.nodes[s].op == Op::stacked && code.nodes[s].index == node.index)
                    layout.places[s] = allocate(s);
            }
        }
        if (node.op == Op::argument && (node.size > longest_unrolled || is_in_memory)) {
            place = {Place::argument, node.offset, node.index, i};
        } else if (node.op == Op::constant && (node.size > longest_unrolled || is_in_memory)) {
            place = {Place::constant, node.offset, 0, i};
        } else if (node.op == Op::loop) {
            place = layout.places[code.operands[node.first]];
        } else if (node.op == Op::element && node.size > longest_unrolled &&
                   layout.places[code.operands[node.first]].loop < 0) {
            place = layout.places[code.operands[node.first]];
            place.loop = node.index;
            place.stride = node.size;
        } else if (node.op == Op::slice) {
            place = layout.places[code.operands[node.first]];
            place.offset += node.offset;
        } else if (node.op == Op::outer) {
            place.kind = Place::product;
        } else if (is_walked[static_cast<std::size_t>(i)]) {
            place.kind = Place::parts;
        } else if (is_mask(node.op)) {
            place = {Place::mask, layout.num_masks, 0, i};
            layout.num_masks += node.size;
        } else if (node.size <= longest_unrolled && !is_in_memory) {
            place = {Place::registers, layout.num_registers, 0, i};
            layout.num_registers += node.size;
        } else {
            place = allocate(i);
        }
        scratch.retire(i);
    }
    layout.scratch_size = scratch.size();
    for (int i = 0; i < Code::size(); ++i)
        layout.instructions[i] = detail::make_instruction(code, layout.places, i);
    return layout;
}

}  // namespace eddy::inline v0
