#pragma once
// The stack of checkpoints that the members of a team share: one of them keeps it, the others are
// told. A team of one member has nobody to tell. What it does stays out of the registers of the loop.
// As long as slot k holds step k, all of them know the stack by its size: where all states are kept,
// nobody asks.
// Test: tests/solve/warps.cpp

#include <eddy/checkpoint/checkpoint_links.hpp>
#include <eddy/solve/group/team.hpp>

namespace eddy::inline v0::detail {

template <class Team>
class SharedStack {
  public:
    using Entry = CheckpointLinks::Entry;

    /// `stack` is that of the first member; the others' is empty.
    EDDY_HD SharedStack(Team& team, CheckpointLinks& stack) : team_(&team), stack_(&stack) {}

    EDDY_HD void clear() {
        lead([stack = stack_] { stack->clear(); });
        level_ = 0;
    }
    EDDY_INLINE EDDY_HD void place(std::int64_t slot, std::int64_t step) {
        if (slot == level_ && step == level_) [[likely]] {
            ++level_;
            return;
        }
        write_down();
        lead([stack = stack_, slot, step] { stack->place(slot, step); });
    }
    EDDY_HD void collect_free() {
        if (!is_level()) lead([stack = stack_] { stack->collect_free(); });
    }
    EDDY_HD std::int64_t push(std::int64_t step) {
        write_down();
        lead([stack = stack_, step] { stack->push(step); });
        return top().slot;
    }
    EDDY_INLINE EDDY_HD void pop() {
        if (is_level()) [[likely]]
            --level_;
        else
            lead([stack = stack_] { stack->pop(); });
    }
    [[nodiscard]] EDDY_INLINE EDDY_HD Entry top() const {
        if (is_level()) [[likely]]
            return {level_ - 1, level_ - 1};
        const Entry entry = team_->member() == 0 ? stack_->top() : Entry{0, 0};
        return {team_->from_first(entry.slot), team_->from_first(entry.step)};
    }
    /// The entry below the top, for hints; an empty one where nobody asks for them.
    [[nodiscard]] EDDY_HD Entry below_top() const {
        return level_ > 1 ? Entry{level_ - 2, level_ - 2} : Entry{0, 0};
    }
    [[nodiscard]] EDDY_HD std::int64_t size() const {
        return is_level() ? level_ : team_->from_first(stack_->size());
    }
    [[nodiscard]] EDDY_HD std::int64_t num_free() const {
        return team_->from_first(stack_->num_free()) - (is_level() ? level_ : 0);
    }

  private:
    static constexpr std::int64_t nowhere = -1;

    [[nodiscard]] EDDY_HD bool is_level() const { return level_ != nowhere; }
    /// What all know becomes what the first member keeps. Slots that were popped are free, and taken in
    /// the order in which they would be.
    EDDY_HD void write_down() {
        if (!is_level()) return;
        lead([stack = stack_, level = level_] {
            for (std::int64_t step = 0; step < level; ++step) stack->place(step, step);
        });
        level_ = nowhere;
    }
    template <class Work>
    EDDY_HD void lead(const Work& work) const {
        if (team_->member() == 0) run_out_of_line(work);
    }
    Team* team_;
    CheckpointLinks* stack_;
    std::int64_t level_ =
        0;  // entries, of which k is in slot k for step k; nowhere: they are others
};

template <class Team>
[[nodiscard]] EDDY_HD auto shared_stack([[maybe_unused]] Team& team, CheckpointLinks& stack) {
    if constexpr (Team::num_members == 1)
        return stack;
    else
        return SharedStack<Team>(team, stack);
}

}  // namespace eddy::inline v0::detail
