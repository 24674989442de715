#pragma once
// From a list to instructions. Values stay in registers until the one that is read last must make room; a value of
// scratch is written only then, into its own row, or where somebody outside of the part reads it.
// Test: tests/trace/rows/machine_code.cpp

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "assembler.hpp"
#include "list_reads.hpp"

namespace eddy::inline v0::detail {

/// Writes the parts of a list, one after another.
class PartWriter {
  public:
    /// `read_at_end`: places that somebody reads behind the last operation; they may wait for it in registers.
    PartWriter(const ProgramCode& code, Assembler& to, const std::vector<int>& read_at_end = {})
        : code_(code),
          to_(to),
          reads_(code, read_at_end),
          places_(code),
          register_of_(at(code.num_shared() + code.num_rows()), -1),
          held_(at(to.num_registers())) {}

    /// Operations [first, last) for all lanes of a tile.
    void write(int first, int last) {
        last_ = last;
        reserve_frame(first, last, 8);
        const bool repeats = to_.row_bytes() > to_.value_bytes();
        Xbyak::Label again;
        if (repeats) {
            to_.xor_(to_.esi, to_.esi);
            to_.L(again);
        }
        is_offset_ = repeats;
        base_of_.fill(-1);
        for (int s = first; s < last; ++s) write_operation(s);
        let_all_go();
        if (repeats) {
            to_.add(to_.rsi, static_cast<std::uint32_t>(to_.value_bytes()));
            to_.cmp(to_.rsi, static_cast<std::uint32_t>(to_.row_bytes()));
            to_.jb(again, Assembler::T_NEAR);
        }
        if (frame_ > 0) to_.add(to_.rsp, frame_);
        if (!to_.is_scalar()) to_.vzeroupper();
        to_.ret();
    }

  protected:
    struct Held {
        int place = -1, next = never;
        bool is_used = false, is_dirty = false;
        int locked_by = -1;
    };

    // Memory: blocks begin where a table in rdi says; some of these addresses are kept in registers.

    [[nodiscard]] Xbyak::RegExp address(const Places::Place& of) {
        const int row = of.is_shared ? to_.number_bytes() : to_.row_bytes();
        Xbyak::RegExp at = Xbyak::RegExp(base(of.block));
        if (is_offset_ && !of.is_shared) at = at + to_.rsi;
        return at + static_cast<std::size_t>(of.row) * static_cast<std::size_t>(row);
    }
    [[nodiscard]] Xbyak::RegExp address(int place) { return address(places_[place]); }
    [[nodiscard]] Xbyak::Reg64 base(int block) {
        const auto known = std::find(base_of_.begin(), base_of_.end(), block);
        std::size_t which = static_cast<std::size_t>(known - base_of_.begin());
        if (known == base_of_.end()) {
            which = static_cast<std::size_t>(
                std::min_element(base_used_.begin(), base_used_.begin() + num_bases_) -
                base_used_.begin());
            base_of_[which] = block;
            to_.mov(base_register(which), Xbyak::util::ptr[to_.rdi + 8 * at(block)]);
        }
        if (base_used_[which] != never) base_used_[which] = ++base_clock_;
        return base_register(which);
    }

    static constexpr std::size_t most_bases = 12, num_lost = 7;
    /// The first ones are those that a function need not give back.
    [[nodiscard]] Xbyak::Reg64 base_register(std::size_t which) const {
        const Xbyak::Reg64 bases[most_bases] = {to_.rax, to_.rcx, to_.rdx, to_.r8,
                                                to_.r9,  to_.r10, to_.r11, to_.rbx,
                                                to_.rbp, to_.r12, to_.r13, to_.r14};
        return bases[which];
    }

    // Registers

    [[nodiscard]] bool ends(int next) const { return next >= last_; }
    void let_go(int r) {
        Held& held = held_[at(r)];
        if (held.is_used && held.place >= 0) register_of_[at(held.place)] = -1;
        held = {};
    }
    void let_all_go() {
        for (std::size_t r = 0; r < held_.size(); ++r) {
            if (held_[r].is_dirty && held_[r].next != never) store(static_cast<int>(r));
            let_go(static_cast<int>(r));
        }
    }
    void store(int r) {
        to_.store(address(held_[at(r)].place), r);
        held_[at(r)].is_dirty = false;
    }
    /// A register for operation s: a free one, or that of the value that is read last, or lies in memory already.
    int take(int s) {
        int best = -1;
        std::int64_t farthest = -1;
        for (int r = 0; r < static_cast<int>(held_.size()); ++r) {
            const Held& held = held_[at(r)];
            if (held.locked_by == s) continue;
            if (!held.is_used) return r;
            const std::int64_t score = 2 * std::int64_t{held.next} + (held.is_dirty ? 0 : 16);
            if (score > farthest) {
                farthest = score;
                best = r;
            }
        }
        if (held_[at(best)].is_dirty && held_[at(best)].next != never) store(best);
        let_go(best);
        return best;
    }
    void hold(int r, int place, int next, int s) {
        held_[at(r)] = {place, next, true, false, s};
        if (place >= 0) register_of_[at(place)] = r;
    }
    [[nodiscard]] int register_of(int s, int k) const {
        const int place = reads_.of[at(s)].place[k];
        return place < 0 ? result_ : register_of_[at(place)];
    }
    /// Operand k of operation s, in a register.
    int read(int s, int k) {
        int r = register_of(s, k);
        if (r < 0) {
            const int place = reads_.of[at(s)].place[k];
            r = take(s);
            to_.load(r, address(place), places_[place].is_shared);
            hold(r, place, s, s);
        }
        held_[at(r)].locked_by = s;
        return r;
    }
    /// What operation s has read is read again later, or makes room.
    void pass(int s) {
        const NextReads::Of& reads = reads_.of[at(s)];
        for (int k = 0; k < row_operand_count(operation(s).op); ++k) {
            const int r = register_of(s, k);
            if (r < 0 || !held_[at(r)].is_used) continue;
            held_[at(r)].next = reads.operand[k];
            held_[at(r)].locked_by = -1;
            if (!ends(reads.operand[k])) continue;
            if (held_[at(r)].is_dirty && reads.operand[k] != never) store(r);
            let_go(r);
        }
    }
    /// Is operand k of operation s read for the last time in a long while, and may it be read in memory?
    [[nodiscard]] bool stays_in_memory(int s, int k) const {
        if (register_of(s, k) >= 0) return false;
        const int place = reads_.of[at(s)].place[k], next = reads_.of[at(s)].operand[k];
        for (int other = 0; other < row_operand_count(operation(s).op); ++other)
            if (other != k && reads_.of[at(s)].place[other] == place) return false;
        const bool is_shared = places_[place].is_shared;
        if (is_shared && !to_.reads_shared_numbers()) return false;
        return ends(next) || next > s + (is_shared ? 8 : 40);
    }
    [[nodiscard]] Assembler::Operand in_memory(int s, int k) {
        const int place = reads_.of[at(s)].place[k];
        return {-1, address(place), places_[place].is_shared};
    }
    [[nodiscard]] static Assembler::Operand held(int r) { return {r}; }

    // Operations

    [[nodiscard]] const RowOperation& operation(int s) const { return code_.operations[at(s)]; }

    void write_operation(int s) {
        const Op op = operation(s).op;
        for (int k = 0; k < row_operand_count(op); ++k)
            if (const int r = register_of(s, k); r >= 0) held_[at(r)].locked_by = s;
        if (!to_.is_instruction(op))
            write_function(s);
        else if (op == Op::add || op == Op::sub || op == Op::mul || op == Op::div)
            write_arithmetic(s);
        else if (op == Op::mul_add || op == Op::mul_sub || op == Op::neg_mul_add || op == Op::fma)
            to_.is_fused() ? write_fused(s) : write_product_and_sum(s);
        else
            write_other(s);
    }

    // Functions are calls, for which all that is live waits in its row. The frame has their arguments, an instruction
    // and a table of rows, and registers that are used behind them.

    static constexpr std::size_t instruction_at = 32, numbers_at = 56;
    void reserve_frame(int first, int last, std::uint32_t misaligned) {
        called_until_ = 0;
        frame_ = 0;
        for (int s = first; s < last; ++s)
            if (!to_.is_instruction(operation(s).op)) frame_ = 128 + misaligned;
        if (frame_ > 0) to_.sub(to_.rsp, frame_);
    }
    void write_function(int s) {
        if (s >= called_until_) call(s);
        const RowOperation& now = operation(s);
        const int next = reads_.of[at(s)].result, r = take(s);
        to_.load(r, address(now.to), false);
        hold(r, now.to, next, s);
        result_ = r;
        if (ends(next)) let_go(r);
    }
    void call(int s) {
        using Xbyak::util::ptr;
        const RowOperation& now = operation(s);
        const int count = to_.is_scalar() ? count_functions(code_, places_, s, 1) : 1;
        called_until_ = s + count;
        let_all_go();
        const auto for_saved = [&](const auto& of) {
            const Xbyak::RegExp saved = to_.rsp + numbers_at;
            of(to_.rdi, saved);
            of(to_.rsi, saved + 8);
            for (std::size_t which = 0; which < num_lost; ++which)
                if (base_used_[which] == never) of(base_register(which), saved + 16 + 8 * which);
        };
        for_saved([&](const auto& one, const auto& saved) { to_.mov(ptr[saved], one); });
        const int place[] = {now.to, now.from[0], now.from[1], now.from[2]};
        for (std::size_t k = 0; k <= at(row_operand_count(now.op)); ++k) {
            to_.lea(to_.rdi, ptr[address(place[k])]);
            to_.mov(ptr[to_.rsp + 8 * k], to_.rdi);
            to_.mov(to_.rdi, ptr[to_.rsp + numbers_at]);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            const auto number = k == 2 && has_index(now.op) ? static_cast<std::uint32_t>(now.index)
                                                            : static_cast<std::uint32_t>(k);
            to_.mov(to_.dword[to_.rsp + instruction_at + 8 + 4 * k], number);
        }
        to_.lea(to_.rdi, ptr[to_.rsp + instruction_at]);
        to_.mov(to_.rsi, to_.rsp);
        to_.call_function(now.op, count);
        for_saved([&](const auto& one, const auto& saved) { to_.mov(one, ptr[saved]); });
        for (std::size_t which = 0; which < num_lost; ++which)
            if (base_used_[which] != never) base_of_[which] = -1;
    }
    /// The result of operation s is in a register.
    void give(int s, int r) {
        const RowOperation& now = operation(s);
        if (now.is_stored && register_of_[at(now.to)] >= 0) let_go(register_of_[at(now.to)]);
        const int next = reads_.of[at(s)].result;
        hold(r, now.is_stored ? now.to : -1, next, s);
        result_ = r;
        if (!now.is_stored) return;
        const bool is_private = code_.blocks.empty() && is_private_place(now.to);
        held_[at(r)].is_dirty = true;
        if (!is_private || (ends(next) && next != never)) store(r);
        if (ends(next)) let_go(r);
    }
    /// Does nobody else read what lies there?
    [[nodiscard]] bool is_private_place(int place) const {
        return places_.is_scratch(place) || places_[place].block == private_block_;
    }
    void write_arithmetic(int s) {
        const Op op = operation(s).op;
        int a = 0, b = 1;
        if ((op == Op::add || op == Op::mul) && stays_in_memory(s, 0)) std::swap(a, b);
        const bool is_in_memory = stays_in_memory(s, b);
        const int x = read(s, a), y = is_in_memory ? -1 : read(s, b);
        const Assembler::Operand from = is_in_memory ? in_memory(s, b) : held(y);
        pass(s);
        const int d = take(s);
        to_.arithmetic(op, d, x, from);
        give(s, d);
    }
    /// Of operands that are different values, one that nobody reads later: it may be overwritten.
    [[nodiscard]] bool is_over(int s, int k) const {
        if (register_of(s, k) < 0 || !ends(reads_.of[at(s)].operand[k])) return false;
        const Held& held = held_[at(register_of(s, k))];
        if (held.is_dirty && reads_.of[at(s)].operand[k] != never) return false;
        for (int other = 0; other < 3; ++other)
            if (other != k && register_of(s, other) == register_of(s, k)) return false;
        return true;
    }
    void write_fused(int s) {
        const Op op = operation(s).op;
        int a = 0, b = 1;
        if (stays_in_memory(s, 0)) std::swap(a, b);
        const bool b_in_memory = stays_in_memory(s, b);
        const int x = read(s, a), y = b_in_memory ? -1 : read(s, b);
        if (!b_in_memory && stays_in_memory(s, 2) && (is_over(s, a) || is_over(s, b))) {
            if (!is_over(s, a)) std::swap(a, b);
            const int d = register_of(s, a), other = register_of(s, b);
            const Assembler::Operand c = in_memory(s, 2);
            to_.multiply_and_add(op, d, other, c);
            pass(s);
            return give(s, d);
        }
        int sum = -1;
        if (register_of(s, 2) < 0 && stays_in_memory(s, 2)) {
            sum = take(s);
            held_[at(sum)].locked_by = s;
            const int place = reads_.of[at(s)].place[2];
            to_.load(sum, address(place), places_[place].is_shared);
        } else {
            const int c = read(s, 2);
            if (is_over(s, 2)) {
                sum = c;
            } else if (is_over(s, a)) {
                const int d = x;
                if (b_in_memory)
                    to_.multiply_in_memory(op, d, in_memory(s, b), c);
                else
                    to_.multiply_and_add(op, d, y, held(c));
                pass(s);
                return give(s, d);
            } else {
                sum = take(s);
                held_[at(sum)].locked_by = s;
                to_.copy(sum, c);
            }
        }
        if (b_in_memory)
            to_.add_product(op, sum, x, in_memory(s, b));
        else
            to_.add_product(op, sum, x, held(y));
        pass(s);
        give(s, sum);
    }
    /// Without a fused instruction: a product, then a sum.
    void write_product_and_sum(int s) {
        const Op op = operation(s).op;
        const int x = read(s, 0), y = read(s, 1), c = read(s, 2);
        const int product = take(s);
        held_[at(product)].locked_by = s;
        to_.arithmetic(Op::mul, product, x, held(y));
        if (op == Op::mul_sub)
            to_.arithmetic(Op::sub, product, product, held(c));
        else if (op == Op::neg_mul_add)
            to_.arithmetic(Op::sub, product, c, held(product));
        else
            to_.arithmetic(Op::add, product, product, held(c));
        pass(s);
        give(s, product);
    }
    void write_other(int s) {
        const RowOperation& now = operation(s);
        int from[3] = {};
        for (int k = 0; k < row_operand_count(now.op); ++k) from[k] = read(s, k);
        const int d = take(s);
        held_[at(d)].locked_by = s;
        const int free = take(s);
        if (now.op == Op::name)
            to_.copy(d, from[0]);
        else
            to_.from_registers(now.op, d, from, free);
        pass(s);
        give(s, d);
    }

    const ProgramCode& code_;
    Assembler& to_;
    NextReads reads_;
    Places places_;
    std::vector<int> register_of_;                         // (place); −1: none
    std::vector<Held> held_;                               // (register)
    std::array<int, most_bases> base_of_{}, base_used_{};  // used: when last; `never`: it stays
    int num_bases_ = num_lost;
    int base_clock_ = 0, last_ = 0, result_ = -1;
    int private_block_ = -1;   // beside scratch
    int called_until_ = 0;     // operations whose functions have been called
    std::uint32_t frame_ = 0;  // bytes; 0: nothing is called
    bool is_offset_ = false;
};

}  // namespace eddy::inline v0::detail
