#pragma once
// Which vectors of a loop share memory. A loop that adds to long cotangents turn by turn would hold them
// four times: where they start, as its state, as the sums of a turn, and as the next state. Here the
// state lies where its start did, the next state where the state is, and a sum where the number was that
// it adds to, wherever no reader is left of what is overwritten. Loops in loops then need little more
// memory than their tapes.
// Test: tests/trace/loops_derivatives.cpp

#include <eddy/core/static_for.hpp>
#include <eddy/trace/loop_views.hpp>

namespace eddy::inline v0::detail {

/// Where a node lies in the memory of another: from `offset` of node `of` on; −1: in its own.
struct SharedPlace {
    int of = -1;
    int offset = 0;
};

template <class Code>
class LoopPlaces {
  public:
    constexpr LoopPlaces(const Code& code, const List<int>& last, const List<char>& in_memory)
        : code_(code),
          last_(last),
          in_memory_(in_memory),
          loop_of_(loops_of_nodes(code, code.sizes.nodes)),
          is_walked_(walked_concats(code)),
          shared_(at(code.sizes.nodes)) {
        for (int i = 0; i < code.sizes.nodes; ++i) {
            if (node(i).op == Op::loop) share(i);
        }
    }
    [[nodiscard]] constexpr const List<SharedPlace>& shared() const { return shared_; }

  private:
    static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
    [[nodiscard]] constexpr const Node& node(int i) const { return code_.nodes[i]; }
    [[nodiscard]] constexpr int operand(int i, int k) const {
        return code_.operands[node(i).first + k];
    }
    /// Is the value an array of its own in memory?
    [[nodiscard]] constexpr bool is_array(int i) const {
        const Op op = node(i).op;
        const bool is_value = is_elementwise(op)
                                  ? !is_mask(op)
                                  : op == Op::concat || op == Op::carry || op == Op::add_at;
        return is_value && (node(i).size > longest_unrolled || in_memory_[at(i)]);
    }

    constexpr void share(int end) {
        const int carry = operand(end, 0), init = operand(end, 1), next = operand(end, 2);
        if (!is_array(carry)) return;
        if (is_array(init) && node(init).op != Op::carry && last_[at(init)] == carry)
            shared_[at(carry)] = {init, 0};
        const Loop& loop = code_.loops[node(end).index];
        if (loop.num_fixed() > 3) return;
        if (node(next).op == Op::loop) {  // the state of a loop inside, which starts from this one
            const int inner = operand(next, 0);
            if (operand(next, 1) == carry && loop_of_[at(next)] == node(end).index &&
                !is_read(carry, inner, next, 0, node(carry).size))
                shared_[at(inner)] = {carry, 0};
            return;
        }
        if (node(next).op != Op::concat || !is_array(next)) return;
        if (loop_of_[at(next)] != node(end).index || last_[at(next)] != end) return;
        if (is_read(carry, next, -1, 0, node(carry).size)) return;
        int begin = 0;
        for (int k = 0; k < node(next).count; ++k) {
            const int part = operand(next, k);
            if (reads(part, carry, 0, node(carry).size) && !is_at(part, carry, begin)) return;
            begin += node(part).size;
        }
        shared_[at(next)] = {carry, 0};
        begin = 0;
        for (int k = 0; k < node(next).count; ++k) {
            const int part = operand(next, k);
            if (is_sum_in_place(part, carry, next, begin)) shared_[at(part)] = {carry, begin};
            begin += node(part).size;
        }
    }

    /// May a part of the next state be written over components [begin, …) of the state?
    [[nodiscard]] constexpr bool is_sum_in_place(int part, int carry, int next, int begin) const {
        const Node& sum = node(part);
        const bool is_added = sum.op == Op::add_at;
        if (!(is_elementwise(sum.op) || is_added) || !is_array(part) || shared_[at(part)].of >= 0 ||
            loop_of_[at(part)] != loop_of_[at(next)] || last_[at(part)] != next)
            return false;
        for (int k = 0; k < sum.count; ++k) {
            const int from = operand(part, k);
            const bool is_same =
                node(from).size == sum.size && is_at(from, carry, begin) && !(is_added && k > 0);
            if (reads(from, carry, begin, sum.size) && !is_same) return false;
        }
        int copies = 0;
        for (int k = 0; k < node(next).count; ++k) copies += operand(next, k) == part;
        return copies == 1 && !is_read(carry, part, next, begin, sum.size);
    }

    /// Is the value components [begin, begin + size) of the array, where they are?
    [[nodiscard]] constexpr bool is_at(int i, int array, int begin) const {
        int offset = 0;
        for (; node(i).op == Op::slice; i = operand(i, 0)) offset += node(i).offset;
        return i == array && offset == begin;
    }
    /// Does reading a value read components [begin, begin + size) of the array?
    [[nodiscard]] constexpr bool reads(int i, int array, int begin, int size) const {
        if (i == array) return true;
        int offset = 0, length = node(i).size;
        for (; node(i).op == Op::slice; i = operand(i, 0)) offset += node(i).offset;
        if (i == array) return offset < begin + size && begin < offset + length;
        const bool is_view =
            node(i).op == Op::outer || node(i).op == Op::element || is_walked_[at(i)];
        for (int k = 0; is_view && k < node(i).count; ++k) {
            if (reads(operand(i, k), array, begin, size)) return true;
        }
        return node(i).op == Op::loop && reads(operand(i, 0), array, begin, size);
    }
    /// Is any of components [begin, begin + size) of the state read behind node `first`, up to the end of
    /// its loop? Not by `next`, of parts that are where they will be.
    [[nodiscard]] constexpr bool is_read(int array, int first, int next, int begin,
                                         int size) const {
        for (int i = first + 1; i < code_.sizes.nodes; ++i) {
            const Node& reader = node(i);
            const bool ends_it = reader.op == Op::loop && operand(i, 0) == array;
            for (int k = ends_it ? 3 : 0; k < reader.count; ++k) {
                const bool is_start = reader.op == Op::loop && k == 1;
                if (i == next && (is_start || is_part_at(i, k, array))) continue;
                if (reads(operand(i, k), array, begin, size)) return true;
            }
            if (ends_it) break;
        }
        return false;
    }
    /// Is part k of a concat where it will be?
    [[nodiscard]] constexpr bool is_part_at(int i, int k, int array) const {
        if (node(i).op != Op::concat) return false;
        int begin = 0;
        for (int part = 0; part < k; ++part) begin += node(operand(i, part)).size;
        return is_at(operand(i, k), array, begin);
    }

    const Code& code_;
    const List<int>& last_;
    const List<char>& in_memory_;
    List<int> loop_of_;
    List<char> is_walked_;
    List<SharedPlace> shared_;
};

}  // namespace eddy::inline v0::detail
