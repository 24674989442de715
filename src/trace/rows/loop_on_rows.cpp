#include "loop_on_rows.hpp"

#include <algorithm>
#include <limits>

namespace eddy::inline v0::detail {

template <class Real>
LoopOnRows<Real>::LoopOnRows(const LoopOperation& code, int width, RowLevel level,
                             MachineCodeUse use)
    : code_(code), width_(width) {
    if (use == MachineCodeUse::where_possible && code.loop.length > 0)
        machine_ = code.turn->machine_code->get(code, {width, std::is_same_v<Real, float>, level});
    if (!machine_) turn_.emplace(code.turn, width, level, use);
    if (!machine_ && code.condition) condition_.emplace(code.condition, width, level, use);
    constexpr std::size_t line = sizeof(Line) / sizeof(Real);
    const auto rows = [&](std::size_t count) {
        return (count * at(width) + line - 1) / line * line;
    };
    std::size_t size = rows(num_state()) + rows(1) + rows(3);
    for (const LoopOperation::Stack& stack : code.stacks) size += rows(at(stack.size));
    const ProgramCode list = machine_ ? join_condition(code) : ProgramCode{};
    const std::size_t num_shared = (list.shared.size() + line - 1) / line * line;
    size += num_shared + rows(at(list.num_scratch));
    memory_.resize(size / line);
    next_ = memory_.front().number;
    mask_ = next_ + rows(num_state());
    clock_ = mask_ + rows(1);
    step_ = clock_ + width;
    takes_part_ = step_ + width;
    Real* free = clock_ + rows(3);
    for (const LoopOperation::Stack& stack : code.stacks) {
        of_turn_.push_back(free);
        free += rows(at(stack.size));
    }
    if (machine_) {
        write_numbers(list, width, free, free + num_shared);
        machine_blocks_.reserve(code.operands.size() + code.stacks.size() + 7);
        machine_blocks_.assign({free, free + num_shared});
    }
    operands_.resize(code.operands.size());
    to_.resize(code.to.size());
    blocks_.resize(code.operands.size() + code.stacks.size() + 2);
    strides_.push_back(0);
    for (const LoopOperation::Operand& operand : code.operands) {
        const int numbers = operand.size * (operand.are_numbers ? 1 : width);
        strides_.push_back(operand.is_walked ? numbers : 0);
    }
    strides_.push_back(0);
    for (const LoopOperation::Stack& stack : code.stacks) strides_.push_back(stack.size * width);
    condition_blocks_.resize(code.operands.size() + 2);
}

template <class Real>
std::size_t LoopOnRows<Real>::num_state() const {
    return at(code_.turn->argument_sizes[0]);
}
template <class Real>
std::int64_t LoopOnRows<Real>::num_bytes() const {
    return static_cast<std::int64_t>(memory_.capacity() * sizeof(Line)) +
           (turn_ ? turn_->num_bytes() : 0) + (condition_ ? condition_->num_bytes() : 0);
}

template <class Real>
void LoopOnRows<Real>::begin(Real* const* rows) {
    const std::size_t num_fixed = code_.from.size() - operands_.size();
    for (std::size_t k = 0; k < operands_.size(); ++k)
        operands_[k] = rows[code_.from[num_fixed + k]];
    for (std::size_t k = 0; k < to_.size(); ++k) to_[k] = rows[code_.to[k]];
}
/// The blocks of a turn, which stacks where what it stacks belongs.
template <class Real>
void LoopOnRows<Real>::point_to(int turn, const Real* state, Real* next) {
    std::size_t b = 0;
    blocks_[b++] = state;
    for (std::size_t k = 0; k < operands_.size(); ++k, ++b)
        blocks_[b] = operands_[k] + turn * strides_[b];
    blocks_[b++] = next;
    for (std::size_t s = 0; s < code_.stacks.size(); ++s, ++b)
        blocks_[b] = to_[1 + s] + turn * strides_[b];
}

template <class Real>
void LoopOnRows<Real>::run(Real* const* rows) {
    begin(rows);
    if (code_.loop.has_condition) return take_while(rows);
    if (code_.loop.has_guard || code_.loop.has_turns) return take_some_turns(rows);
    machine_ ? run_machine_code(rows, code_.loop.length) : take_all_turns(rows);
}

template <class Real>
void LoopOnRows<Real>::run_machine_code(Real* const* rows, int num_turns) {
    point_to(code_.loop.is_backward ? num_turns - 1 : 0, next_, to_[0]);
    std::vector<const Real*>& all = machine_blocks_;
    all.resize(2);
    all.insert(all.end(), blocks_.begin(), blocks_.end());
    if (code_.condition) all.push_back(mask_);
    all.push_back(rows[code_.from[0]]);
    all.push_back(clock_);
    machine_->all_turns()(reinterpret_cast<const void* const*>(all.data()), at(num_turns));
}

/// States go from one block to another, so that none is copied.
template <class Real>
void LoopOnRows<Real>::take_all_turns(Real* const* rows) {
    const int length = code_.loop.length;
    const Real* state = rows[code_.from[0]];
    if (length == 0) std::copy_n(state, num_state() * at(width_), to_[0]);
    for (int t = 0; t < length; ++t) {
        Real* const next = (length - t) % 2 == 1 ? to_[0] : next_;
        if (t == 0) point_to(code_.loop.is_backward ? length - 1 : 0, state, next);
        for (std::size_t b = 0; t > 0 && b < blocks_.size(); ++b)
            blocks_[b] += code_.loop.is_backward ? -strides_[b] : strides_[b];
        blocks_[0] = state;
        blocks_[1 + operands_.size()] = next;
        turn_->run(blocks_.data());
        state = next;
    }
}

template <class Real>
bool LoopOnRows<Real>::anyone_takes_part() const {
    return std::any_of(takes_part_, takes_part_ + width_, [](Real flag) { return flag != 0; });
}
/// A turn that only some lanes take.
template <class Real>
void LoopOnRows<Real>::take_turn(int turn) {
    point_to(turn, to_[0], next_);
    const std::size_t first = blocks_.size() - code_.stacks.size();
    for (std::size_t s = 0; s < code_.stacks.size(); ++s)
        if (!code_.stacks[s].is_read_where_written) blocks_[first + s] = of_turn_[s];
    turn_->run(blocks_.data());
    const auto take = [&](Real* to, const Real* from, std::size_t size, auto otherwise) {
        for (std::size_t row = 0; row < size; ++row, to += width_, from += width_)
            for (int lane = 0; lane < width_; ++lane)
                to[lane] = takes_part_[lane] != 0 ? from[lane] : otherwise(to[lane]);
    };
    for (std::size_t s = 0; s < code_.stacks.size(); ++s) {
        const LoopOperation::Stack& stack = code_.stacks[s];
        if (!stack.is_read_where_written)
            take(to_[1 + s] + at(turn) * at(stack.size * width_), of_turn_[s], at(stack.size),
                 [](Real) { return Real(0); });
    }
    take(to_[0], next_, num_state(), [](Real state) { return state; });
}
/// What is stacked in turns that nobody takes.
template <class Real>
void LoopOnRows<Real>::clear(int first, int last) {
    for (std::size_t s = 0; s < code_.stacks.size(); ++s) {
        const LoopOperation::Stack& stack = code_.stacks[s];
        if (stack.is_read_where_written) continue;
        const std::size_t size = at(stack.size * width_);
        std::fill(to_[1 + s] + at(first) * size, to_[1 + s] + at(last) * size, Real(0));
    }
}

template <class Real>
void LoopOnRows<Real>::take_while(Real* const* rows) {
    const Loop& loop = code_.loop;
    std::fill_n(clock_, width_, Real(0));
    if (machine_) {
        clear(0, loop.length);
        std::fill_n(step_, width_, Real(1));
        run_machine_code(rows, loop.length);
    } else {
        take_turns_while(rows);
    }
    if (code_.counts_turns) std::copy_n(clock_, width_, to_.back());
    for (std::size_t row = 0; loop.fails_when_out && row < num_state(); ++row) {
        Real* const state = to_[0] + row * at(width_);
        for (int lane = 0; lane < width_; ++lane)
            if (takes_part_[lane] != 0) state[lane] *= std::numeric_limits<Real>::quiet_NaN();
    }
}
template <class Real>
void LoopOnRows<Real>::take_turns_while(Real* const* rows) {
    std::copy_n(rows[code_.from[0]], num_state() * at(width_), to_[0]);
    std::fill_n(takes_part_, width_, Real(1));
    int turn = 0;
    for (;; ++turn) {
        point_to(turn, to_[0], next_);
        std::copy_n(blocks_.begin(), 1 + operands_.size(), condition_blocks_.begin());
        condition_blocks_[1 + operands_.size()] = mask_;
        condition_->run(condition_blocks_.data());
        for (int lane = 0; lane < width_; ++lane)
            takes_part_[lane] = mask_[lane] != 0 ? takes_part_[lane] : Real(0);
        if (turn == code_.loop.length || !anyone_takes_part()) break;
        take_turn(turn);
        for (int lane = 0; lane < width_; ++lane) clock_[lane] += takes_part_[lane];
    }
    clear(turn, code_.loop.length);
}

/// By a guard, by the turns of another loop, or both.
template <class Real>
void LoopOnRows<Real>::take_some_turns(Real* const* rows) {
    const Loop& loop = code_.loop;
    const Real* const guard = loop.has_guard ? rows[code_.from[1]] : nullptr;
    const Real* const turns = loop.has_turns ? rows[code_.from[1 + loop.has_guard]] : nullptr;
    const auto limit = [&](int lane) {
        if (guard && guard[lane] == 0) return 0;
        return turns ? static_cast<int>(turns[lane]) : loop.length;
    };
    int most = 0;
    for (int lane = 0; lane < width_; ++lane) most = std::max(most, limit(lane));
    if (machine_ && most > 0) {
        std::fill_n(step_, width_, Real(loop.is_backward ? 1 : -1));
        for (int lane = 0; lane < width_; ++lane)
            clock_[lane] = static_cast<Real>(limit(lane) + (loop.is_backward ? 1 - most : 0));
        run_machine_code(rows, most);
        return clear(most, loop.length);
    }
    std::copy_n(rows[code_.from[0]], num_state() * at(width_), to_[0]);
    for (int t = 0; t < most; ++t) {
        const int turn = loop.is_backward ? most - 1 - t : t;
        for (int lane = 0; lane < width_; ++lane) takes_part_[lane] = turn < limit(lane) ? 1 : 0;
        take_turn(turn);
    }
    clear(most, loop.length);
}

template class LoopOnRows<double>;
template class LoopOnRows<float>;

}  // namespace eddy::inline v0::detail
