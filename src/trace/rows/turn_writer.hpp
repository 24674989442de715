#pragma once
// All turns of a loop as one function, where a turn is arithmetic alone. The carried state, and what all turns read,
// wait in registers from turn to turn; what does not fit lies in rows. What a turn reads or stacks a part of is
// addressed by a register that goes on by one part.
// Test: tests/trace/rows/loops.cpp

#include "part_writer.hpp"

namespace eddy::inline v0::detail {

/// Blocks of the function: those of the turn, then the state at the start. The state's own block is written to.
class TurnWriter : PartWriter {
  public:
    TurnWriter(const LoopOperation& loop, Assembler& to)
        : TurnWriter(loop, to, find_pinned(*loop.turn, loop, to.num_registers() - num_free)) {}

    /// Are there registers enough that go on?
    [[nodiscard]] static bool takes(const LoopOperation& loop) {
        int num_walked = 0;
        for (int b = 0; b <= block_of_next(loop) + static_cast<int>(loop.stacks.size()); ++b)
            num_walked += is_walked(loop, b);
        return num_walked <= static_cast<int>(most_pinned_bases);
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
        Xbyak::Label again, turn;
        if (repeats) {
            to_.xor_(to_.esi, to_.esi);
            to_.L(again);
        }
        pin_bases();
        begin();
        to_.mov(to_.r15d, static_cast<std::uint32_t>(loop_.loop.length));
        to_.align(16);
        to_.L(turn);
        forget_bases();
        write_turn();
        to_.sub(to_.r15d, 1);
        to_.jnz(turn, Assembler::T_NEAR);
        forget_bases();
        finish();
        if (repeats) {
            to_.add(to_.rsi, static_cast<std::uint32_t>(to_.value_bytes()));
            to_.cmp(to_.rsi, static_cast<std::uint32_t>(to_.row_bytes()));
            to_.jb(again, Assembler::T_NEAR);
        }
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

    TurnWriter(const LoopOperation& loop, Assembler& to, std::vector<Pinned> pinned)
        : PartWriter(*loop.turn, to, read_at_end(*loop.turn, loop, pinned)),
          loop_(loop),
          pinned_(std::move(pinned)),
          num_state_(loop.turn->argument_sizes[0]),
          state_(first_of_block(*loop.turn, 2)),
          next_(first_of_block(*loop.turn, block_of_next(loop))) {
        private_block_ = block_of_next(loop);
    }
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
        if (block > block_of_next(loop)) return true;
        const auto operand = static_cast<std::size_t>(block - 3);
        return block >= 3 && block < block_of_next(loop) && loop.operands[operand].is_walked;
    }
    /// The state first, then what is read most often of all that stays.
    [[nodiscard]] static std::vector<Pinned> find_pinned(const ProgramCode& code,
                                                         const LoopOperation& loop, int most) {
        std::vector<Pinned> pinned;
        const int state = first_of_block(code, 2), next = first_of_block(code, block_of_next(loop));
        for (int k = 0; k < std::min(most, code.argument_sizes[0]); ++k)
            pinned.push_back({state + k, next + k});
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
        for (int k = 0; k < code.argument_sizes[0]; ++k)
            places.push_back(first_of_block(code, block_of_next(loop)) + k);
        for (const Pinned& one : pinned)
            if (!one.is_state()) places.push_back(one.at_start);
        return places;
    }
    /// The time behind the last operation.
    [[nodiscard]] int end() const { return static_cast<int>(code_.operations.size()); }
    [[nodiscard]] int num_pinned() const { return static_cast<int>(pinned_.size()); }
    /// A register that nothing waits in between turns.
    [[nodiscard]] int free_register() const { return num_pinned(); }

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
        std::size_t next = 0;
        for (const bool walks : {true, false})
            for (int b = 0; b < num_blocks(); ++b)
                if (is_walked(loop_, b) == walks && next < most_pinned_bases) {
                    base_of_[next] = b;
                    base_used_[next] = never;
                    to_.mov(base_register(next++), Xbyak::util::ptr[to_.rdi + 8 * at(b)]);
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

    void begin() {
        for (int k = 0; k < num_state_; ++k) {
            const bool waits = k < num_pinned() && pinned_[at(k)].is_state();
            const int r = waits ? k : free_register();
            to_.load(r, address({num_blocks(), k, false}), false);
            if (!waits) to_.store(address(state_ + k), r);
        }
        for (int r = 0; r < num_pinned(); ++r)
            if (const int place = pinned_[at(r)].at_start; !pinned_[at(r)].is_state())
                to_.load(r, address(place), places_[place].is_shared);
    }
    void write_turn() {
        for (int r = 0; r < num_pinned(); ++r) {
            const int place = pinned_[at(r)].at_start;
            hold(r, place, reads_.first[at(place)], -1);
            held_[at(r)].is_dirty = pinned_[at(r)].is_state();
        }
        for (int s = 0; s < end(); ++s) write_operation(s);
        for (int k = 0; k < num_state_; ++k)
            if (k >= num_pinned() || !pinned_[at(k)].is_state()) carry_in_row(k);
        settle();
        go_on();
    }
    void carry_in_row(int k) {
        int r = register_of_[at(next_ + k)];
        if (r < 0) {
            r = take(end());
            to_.load(r, address(next_ + k), false);
        }
        to_.store(address(state_ + k), r);
        let_go(r);
    }
    /// Each of those that wait to its own register: one after another, where nothing else waits any more. Of a ring,
    /// one steps aside.
    void settle() {
        std::vector<int> left;
        std::vector<char> waits(held_.size(), 0);
        for (int to = 0; to < num_pinned(); ++to) {
            left.push_back(to);
            if (const int r = register_of_[at(pinned_[at(to)].at_end)]; r >= 0) waits[at(r)] = 1;
        }
        for (int r = 0; r < to_.num_registers(); ++r)
            if (!waits[at(r)]) let_go(r);
        while (!left.empty()) {
            const auto moved = std::remove_if(left.begin(), left.end(),
                                              [this](int to) { return move_to_own(to); });
            if (moved == left.end()) step_aside(register_of_[at(pinned_[at(left[0])].at_end)]);
            left.erase(moved, left.end());
        }
        for (int r = 0; r < to_.num_registers(); ++r) let_go(r);
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
        for (int free = 0; free < to_.num_registers(); ++free)
            if (!held_[at(free)].is_used) return move(free, r);
    }
    void finish() {
        for (int k = 0; k < num_state_; ++k) {
            const bool waits = k < num_pinned() && pinned_[at(k)].is_state();
            if (!waits) to_.load(free_register(), address(state_ + k), false);
            to_.store(address(next_ + k), waits ? k : free_register());
        }
    }

    const LoopOperation& loop_;
    std::vector<Pinned> pinned_;  // (register)
    int num_state_, state_, next_;
};

}  // namespace eddy::inline v0::detail
