#pragma once
// The stack of checkpoints that the members of a team share: one of them keeps it, the others are
// told. A team of one member has nobody to tell. What it does stays out of the registers of the loop.

#include <eddy/checkpoint/checkpoint_links.hpp>
#include <eddy/solve/group/team.hpp>

namespace eddy::inline v0::detail {

template <class Team>
class SharedStack {
  public:
    using Entry = CheckpointLinks::Entry;

    EDDY_HD SharedStack(Team& team, const CheckpointLinks& stack) : team_(&team), stack_(stack) {}

    EDDY_HD void clear() {
        lead([this] { stack_.clear(); });
    }
    EDDY_HD void place(std::int64_t slot, std::int64_t step) {
        lead([this, slot, step] { stack_.place(slot, step); });
    }
    EDDY_HD void collect_free() {
        lead([this] { stack_.collect_free(); });
    }
    EDDY_HD std::int64_t push(std::int64_t step) {
        lead([this, step] { stack_.push(step); });
        return top().slot;
    }
    EDDY_HD void pop() {
        lead([this] { stack_.pop(); });
    }
    [[nodiscard]] EDDY_HD Entry top() const {
        const Entry entry = team_->member() == 0 ? stack_.top() : Entry{0, 0};
        return {team_->from_first(entry.slot), team_->from_first(entry.step)};
    }
    [[nodiscard]] EDDY_HD Entry below_top() const { return {0, 0}; }  // for hints: there are none
    [[nodiscard]] EDDY_HD std::int64_t size() const { return team_->from_first(stack_.size()); }
    [[nodiscard]] EDDY_HD std::int64_t num_free() const {
        return team_->from_first(stack_.num_free());
    }

  private:
    template <class Work>
    EDDY_HD void lead(const Work& work) const {
        if (team_->member() == 0) run_out_of_line(work);
    }
    Team* team_;
    CheckpointLinks stack_;  // of the first member; the others' is empty
};

template <class Team>
[[nodiscard]] EDDY_HD auto shared_stack([[maybe_unused]] Team& team, const CheckpointLinks& stack) {
    if constexpr (Team::num_members == 1)
        return stack;
    else
        return SharedStack<Team>(team, stack);
}

}  // namespace eddy::inline v0::detail
