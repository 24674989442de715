#pragma once
// All turns of a loop as one function, where a turn has no operations on blocks. The carried state, and what all turns read,
// wait in registers from turn to turn; what does not fit lies in rows. What a turn reads or stacks a part of is
// addressed by a register that goes on by one part. Lanes that take no part in a turn keep their state by a selection, and
// stack zeros; a vector of lanes none of which goes on is done.
// Test: tests/trace/rows/loops.cpp

#include "part_writer.hpp"

namespace eddy::inline v0::detail {

/// The blocks of the function are named in machine_code.hpp.
class TurnWriter : PartWriter {
  public:
    /// `list`: of `join_condition`.
    TurnWriter(const LoopOperation& loop, const ProgramCode& list, Assembler& to)
        : TurnWriter(loop, list, to, find_pinned(list, loop, to)) {}

    /// Are there registers enough that go on?
    [[nodiscard]] static bool takes(const LoopOperation& loop) {
        int num_walked = 0;
        for (int b = 0; b <= block_of_next(loop) + static_cast<int>(loop.stacks.size()); ++b)
            num_walked += is_walked(loop, b);
        return num_walked <= static_cast<int>(most_pinned_bases);
    }
    /// Do lanes leave?
    [[nodiscard]] static bool is_masked(const LoopOperation& loop) {
        return loop.loop.has_condition || loop.loop.has_guard || loop.loop.has_turns;
    }
    /// The place of the state at the end of a turn, among the blocks.
    [[nodiscard]] static int block_of_next(const LoopOperation& loop) {
        return 3 + static_cast<int>(loop.operands.size());
    }

    void write() {
        last_ = end() + 1;
        const bool repeats = to_.row_bytes() > to_.value_bytes();
        is_offset_ = repeats;
        const Xbyak::Reg64 saved[] = {to_.rbx, to_.rbp, to_.r12, to_.r13, to_.r14, to_.r15};
        for (const Xbyak::Reg64& one : saved) to_.push(one);
        to_.push(to_.rsi);
        reserve_frame(0, end(), 0);
        Xbyak::Label again;
        if (repeats) {
            to_.xor_(to_.esi, to_.esi);
            to_.L(again);
        }
        pin_bases();
        begin();
        write_turns();
        if (repeats) {
            to_.add(to_.rsi, static_cast<std::uint32_t>(to_.value_bytes()));
            to_.cmp(to_.rsi, static_cast<std::uint32_t>(to_.row_bytes()));
            to_.jb(again, Assembler::T_NEAR);
        }
        if (frame_ > 0) to_.add(to_.rsp, frame_);
        to_.pop(to_.rsi);
        for (std::size_t k = std::size(saved); k-- > 0;) to_.pop(saved[k]);
        if (!to_.is_scalar()) to_.vzeroupper();
        to_.ret();
    }

  private:
    /// What waits in the register of its number: a component of the state, or what all turns read.
    struct Pinned {
        int at_start = 0, at_end = 0;  // its place before a turn, and behind it
        [[nodiscard]] bool is_state() const { return at_start != at_end; }
    };
    static constexpr int num_free = 8;  // registers in which a turn computes at least
    static constexpr std::size_t most_pinned_bases = most_bases - 2;

    TurnWriter(const LoopOperation& loop, const ProgramCode& list, Assembler& to,
               std::vector<Pinned> pinned)
        : PartWriter(list, to, read_at_end(list, loop, pinned)),
          loop_(loop),
          pinned_(std::move(pinned)),
          num_state_(list.argument_sizes[0]),
          state_(first_of_block(list, 2)),
          next_(first_of_block(list, block_of_next(loop))),
          zero_(to.num_registers() - 4),
          free_(zero_ + 1),
          clock_(zero_ + 2),
          takes_part_(zero_ + 3) {
        private_block_ = block_of_next(loop);
        held_.resize(at(to.num_registers() - num_reserved(loop)));
    }
    // Where not all lanes take all turns, four registers: zero, one to compute in, the clock, and which lanes take part.
    [[nodiscard]] static int num_reserved(const LoopOperation& loop) {
        return is_masked(loop) ? 4 : 0;
    }
    [[nodiscard]] bool is_masked() const { return is_masked(loop_); }
    [[nodiscard]] static int first_of_block(const ProgramCode& code, int block) {
        int first = code.num_shared() + code.num_scratch;
        for (int b = 2; b < block; ++b) {
            const auto of = static_cast<std::size_t>(b - 2);
            first += of < code.argument_sizes.size()
                         ? code.argument_sizes[of]
                         : code.result_sizes[of - code.argument_sizes.size()];
        }
        return first;
    }
    [[nodiscard]] static bool is_walked(const LoopOperation& loop, int block) {
        if (block > block_of_next(loop))
            return block <= block_of_next(loop) + static_cast<int>(loop.stacks.size());
        const auto operand = static_cast<std::size_t>(block - 3);
        return block >= 3 && block < block_of_next(loop) && loop.operands[operand].is_walked;
    }
    /// The state first, then what is read most often of all that stays.
    [[nodiscard]] static std::vector<Pinned> find_pinned(const ProgramCode& code,
                                                         const LoopOperation& loop,
                                                         const Assembler& to) {
        const int most = to.num_registers() - num_reserved(loop) - num_free;
        std::vector<Pinned> pinned;
        const int state = first_of_block(code, 2), next = first_of_block(code, block_of_next(loop));
        for (int k = 0; k < std::min(most, code.argument_sizes[0]); ++k)
            pinned.push_back({state + k, next + k});
        const bool calls =
            std::any_of(code.operations.begin(), code.operations.end(),
                        [&](const RowOperation& now) { return !to.is_instruction(now.op); });
        if (calls) return pinned;  // no register outlasts a call
        const Places places(code);
        const auto num_spread = static_cast<int>(code.spread.size());
        std::vector<std::pair<int, int>> reads;  // how many, negative, then the place
        for (int place = 0; place < next; ++place) reads.emplace_back(0, place);
        for (const RowOperation& now : code.operations)
            for (int k = 0; k < row_operand_count(now.op); ++k)
                if (now.kind[k] != RowOperand::last && now.from[k] < next)
                    --reads[at(now.from[k])].first;
        std::sort(reads.begin(), reads.end());
        for (const auto& [count, place] : reads) {
            const Places::Place of = places[place];
            const bool stays =
                of.block == 1 ? of.row < num_spread : of.block != 2 && !is_walked(loop, of.block);
            if (count < 0 && stays && static_cast<int>(pinned.size()) < most)
                pinned.push_back({place, place});
        }
        return pinned;
    }
    [[nodiscard]] static std::vector<int> read_at_end(const ProgramCode& code,
                                                      const LoopOperation& loop,
                                                      const std::vector<Pinned>& pinned) {
        std::vector<int> places;
        for (int k = 0; k < code.argument_sizes[0]; ++k) {
            places.push_back(first_of_block(code, block_of_next(loop)) + k);
            if (is_masked(loop)) places.push_back(first_of_block(code, 2) + k);
        }
        for (const Pinned& one : pinned)
            if (!one.is_state()) places.push_back(one.at_start);
        return places;
    }
    /// The time behind the last operation.
    [[nodiscard]] int end() const { return static_cast<int>(code_.operations.size()); }
    [[nodiscard]] int num_pinned() const { return static_cast<int>(pinned_.size()); }
    [[nodiscard]] bool waits(int k) const { return k < num_pinned() && pinned_[at(k)].is_state(); }
    /// A register that nothing waits in between turns, nor when lanes leave.
    [[nodiscard]] int free_register() const { return is_masked() ? free_ : num_pinned(); }

    // Addresses: of blocks that are walked first, then of the others, as far as registers go.

    [[nodiscard]] int num_blocks() const {
        return 2 + static_cast<int>(code_.argument_sizes.size() + code_.result_sizes.size());
    }
    /// Bytes from turn to turn.
    [[nodiscard]] std::int64_t stride(int block) const {
        const int argument = block - 2;
        const std::size_t stack = at(block - block_of_next(loop_) - 1);
        const bool is_operand = block < block_of_next(loop_);
        const bool is_shared = is_operand && loop_.operands[at(argument - 1)].are_numbers;
        const int size =
            is_operand ? loop_.operands[at(argument - 1)].size : loop_.stacks[stack].size;
        const std::int64_t bytes =
            std::int64_t{size} * (is_shared ? to_.number_bytes() : to_.row_bytes());
        return loop_.loop.is_backward ? -bytes : bytes;
    }
    void pin_bases() {
        num_bases_ = most_bases;
        base_of_.fill(-1);
        base_used_.fill(0);
        std::size_t next = most_bases;  // those that functions give back first
        for (const bool walks : {true, false})
            for (int b = 0; b < num_blocks(); ++b)
                if (is_walked(loop_, b) == walks && next > most_bases - most_pinned_bases) {
                    base_of_[--next] = b;
                    base_used_[next] = never;
                    to_.mov(base_register(next), Xbyak::util::ptr[to_.rdi + 8 * at(b)]);
                }
    }
    void forget_bases() {
        for (std::size_t which = 0; which < most_bases; ++which)
            if (base_used_[which] != never) base_of_[which] = -1;
    }
    void go_on() {
        for (std::size_t which = 0; which < most_bases; ++which)
            if (base_of_[which] >= 0 && is_walked(loop_, base_of_[which]))
                to_.add(base_register(which), static_cast<std::uint32_t>(stride(base_of_[which])));
    }

    // Before, in and behind the turns

    enum Row { clock_row, step_row, takes_part_row };
    [[nodiscard]] Xbyak::RegExp row_of_lanes(Row row) {
        return address(Places::Place{num_blocks() + 1, row, false});
    }
    void begin() {
        for (int k = 0; k < num_state_; ++k) {
            const int r = waits(k) ? k : free_register();
            to_.load(r, address(Places::Place{num_blocks(), k, false}), false);
            if (!waits(k)) to_.store(address(state_ + k), r);
        }
        for (int r = 0; r < num_pinned(); ++r)
            if (const int place = pinned_[at(r)].at_start; !pinned_[at(r)].is_state())
                to_.load(r, address(place), places_[place].is_shared);
        if (!is_masked()) return;
        to_.clear(zero_);
        to_.load(clock_, row_of_lanes(clock_row), false);
        to_.load(takes_part_, row_of_lanes(step_row), false);
    }
    /// Of one vector of lanes.
    void write_turns() {
        Xbyak::Label turn, done;
        to_.mov(to_.r15, Xbyak::util::ptr[to_.rsp + frame_]);
        to_.align(16);
        to_.L(turn);
        forget_bases();
        hold_pinned();
        const int first =
            loop_.condition ? static_cast<int>(loop_.condition->operations.size()) : 0;
        for (int s = 0; s < first; ++s) write_in_turn(s);
        if (first > 0)
            leave(done);
        else if (is_masked())
            to_.from_registers(Op::less, takes_part_, {zero_, clock_, zero_}, free_);
        for (int s = first; s < end(); ++s) {
            write_in_turn(s);
            if (is_masked()) clear_stacked(s);
        }
        carry();
        settle();
        go_on();
        if (first > 0) {
            to_.jmp(turn, Assembler::T_NEAR);
        } else {
            if (is_masked()) to_.arithmetic(Op::add, clock_, clock_, {-1, row_of_lanes(step_row)});
            to_.sub(to_.r15, 1);
            to_.jnz(turn, Assembler::T_NEAR);
            forget_bases();
            finish([this](int k) { return waits(k) ? k : -1; });
        }
        to_.L(done);
    }
    /// Functions change the registers of lanes that leave, too.
    void write_in_turn(int s) {
        const bool is_call = is_masked() && !to_.is_instruction(operation(s).op);
        if (is_call) {
            to_.store(row_of_lanes(clock_row), clock_);
            to_.store(row_of_lanes(takes_part_row), takes_part_);
        }
        write_operation(s);
        if (!is_call) return;
        to_.clear(zero_);
        to_.load(clock_, row_of_lanes(clock_row), false);
        to_.load(takes_part_, row_of_lanes(takes_part_row), false);
    }
    void hold_pinned() {
        for (int r = 0; r < num_pinned(); ++r) {
            const int place = pinned_[at(r)].at_start;
            hold(r, place, reads_.first[at(place)], -1);
            held_[at(r)].is_dirty = pinned_[at(r)].is_state();
        }
    }
    /// Behind the condition, where no lane goes on, or turns have run out. The others count a turn.
    void leave(const Xbyak::Label& done) {
        Xbyak::Label out, go_on;
        const int condition = first_of_block(code_, num_blocks() - 1);
        to_.load(free_, address(condition), false);
        to_.from_registers(Op::select, takes_part_, {free_, takes_part_, zero_}, free_);
        to_.test(takes_part_, zero_);
        to_.jz(out, Assembler::T_NEAR);
        to_.sub(to_.r15, 1);
        to_.jnb(go_on, Assembler::T_NEAR);
        to_.L(out);
        const auto base_of = base_of_, base_used = base_used_;  // as they are where lanes go on
        finish([this](int k) { return register_of_[at(state_ + k)]; });
        to_.store(row_of_lanes(clock_row), clock_);
        to_.store(row_of_lanes(takes_part_row), takes_part_);
        to_.jmp(done, Assembler::T_NEAR);
        to_.L(go_on);
        base_of_ = base_of;
        base_used_ = base_used;
        to_.arithmetic(Op::add, clock_, clock_, {takes_part_});
    }
    /// Of lanes that take no part, in place of what operation s has stacked.
    void clear_stacked(int s) {
        const RowOperation& now = operation(s);
        const int stack = now.is_stored ? places_[now.to].block - block_of_next(loop_) - 1 : -1;
        if (stack < 0 || loop_.stacks[at(stack)].is_read_where_written) return;
        to_.from_registers(Op::select, free_, {takes_part_, result_, zero_}, free_);
        to_.store(address(now.to), free_);
    }
    /// The next state, of lanes that take part.
    void carry() {
        for (int k = 0; k < num_state_; ++k) {
            if (waits(k) && !is_masked()) continue;
            const int r = in_register(next_ + k);
            if (is_masked()) {
                const int before = in_register(state_ + k);
                to_.from_registers(Op::select, r, {takes_part_, r, before}, free_);
                held_[at(r)].is_dirty = true;
                let_go(before);
            }
            held_[at(r)].locked_by = -1;
            if (waits(k)) continue;
            to_.store(address(state_ + k), r);
            let_go(r);
        }
    }
    int in_register(int place) {
        int r = register_of_[at(place)];
        if (r < 0) {
            r = take(end());
            to_.load(r, address(place), false);
            hold(r, place, end(), end());
        }
        held_[at(r)].locked_by = end();
        return r;
    }
    /// Each of those that wait to its own register: one after another, where nothing else waits any more. Of a ring,
    /// one steps aside.
    void settle() {
        std::vector<int> left;
        std::vector<char> is_wanted(held_.size(), 0);
        for (int to = 0; to < num_pinned(); ++to) {
            left.push_back(to);
            if (const int r = register_of_[at(pinned_[at(to)].at_end)]; r >= 0)
                is_wanted[at(r)] = 1;
        }
        for (int r = 0; r < static_cast<int>(held_.size()); ++r)
            if (!is_wanted[at(r)]) let_go(r);
        while (!left.empty()) {
            const auto moved = std::remove_if(left.begin(), left.end(),
                                              [this](int to) { return move_to_own(to); });
            if (moved == left.end()) step_aside(register_of_[at(pinned_[at(left[0])].at_end)]);
            left.erase(moved, left.end());
        }
        for (int r = 0; r < static_cast<int>(held_.size()); ++r) let_go(r);
    }
    bool move_to_own(int to) {
        const int place = pinned_[at(to)].at_end, from = register_of_[at(place)];
        if (from == to) return true;
        if (held_[at(to)].is_used) return false;
        if (from < 0)
            to_.load(to, address(place), places_[place].is_shared);
        else
            move(to, from);
        return true;
    }
    void move(int to, int from) {
        const Held held = held_[at(from)];
        to_.copy(to, from);
        let_go(from);
        hold(to, held.place, held.next, end());
        held_[at(to)].is_dirty = held.is_dirty;
    }
    void step_aside(int r) {
        for (int free = 0; free < static_cast<int>(held_.size()); ++free)
            if (!held_[at(free)].is_used) return move(free, r);
    }
    /// The state to where its reader looks for it; `register_of`: of a component, −1 where it lies in its row.
    template <class Find>
    void finish(const Find& register_of) {
        for (int k = 0; k < num_state_; ++k) {
            const int r = register_of(k);
            if (r < 0) to_.load(free_register(), address(state_ + k), false);
            to_.store(address(next_ + k), r < 0 ? free_register() : r);
        }
    }

    const LoopOperation& loop_;
    std::vector<Pinned> pinned_;            // (register)
    int num_state_, state_, next_;          // the first places of both
    int zero_, free_, clock_, takes_part_;  // registers
};

}  // namespace eddy::inline v0::detail
