#include <algorithm>
#include <eddy/checkpoint/action_plan.hpp>
#include <eddy/core/error.hpp>
#include <limits>
#include <map>
#include <string>

namespace eddy::inline v0 {
namespace {

// The slots of one tier while the list is read.
struct TierSlots {
    struct Stored {
        std::int64_t slot;
        std::size_t written_by;  // index of the action
    };
    std::map<std::int64_t, Stored> stored;  // by step
    std::vector<std::int64_t> free;
    std::int64_t slots = 0;

    std::int64_t take() {
        if (free.empty()) return slots++;
        const std::int64_t slot = free.back();
        free.pop_back();
        return slot;
    }
};

class ActionPlanner {
  public:
    ActionPlanner(std::span<const Action> actions, int tiers)
        : actions_(actions),
          tiers_(static_cast<std::size_t>(tiers)),
          written_by_(actions.size(), 0) {
        for (const Action& action : actions)
            if (action.kind == ActionKind::forward)
                plan_.length = std::max(plan_.length, action.last);
        adjoint_ = plan_.length;
    }

    ActionPlan plan() && {
        for (index_ = 0; index_ < actions_.size(); ++index_) add(actions_[index_]);
        finish();
        look_ahead();
        return std::move(plan_);
    }

  private:
    void require(bool holds, const char* claim) const {
        if (holds) return;
        const std::string where =
            index_ < actions_.size()
                ? detail::compose("action {}, '{}'", index_, to_string(actions_[index_]))
                : "the end";
        require_argument(false, "plan_actions: {}: {}; correct the schedule", where, claim);
    }

    TierSlots& tier_of(const Action& action) {
        require(action.tier >= 0 && static_cast<std::size_t>(action.tier) < tiers_.size(),
                "there is no store for this tier");
        return tiers_[static_cast<std::size_t>(action.tier)];
    }

    void add(const Action& action) {
        PlannedAction planned{.action = action};
        switch (action.kind) {
            case ActionKind::forward: forward(action); break;
            case ActionKind::reverse: reverse(action); break;
            case ActionKind::write: planned.slot = write(action); break;
            case ActionKind::read: planned.slot = read(action); break;
            case ActionKind::discard: planned.slot = discard(action); break;
        }
        plan_.actions.push_back(planned);
    }

    void forward(const Action& action) {
        require(action.first == model_, "the working state is that of another step");
        require(action.first < action.last, "it does not advance");
        require(action.last <= adjoint_, "it passes the adjoint");
        model_ = action.last;
        if (model_ == plan_.length && plan_.forward_actions == 0)
            plan_.forward_actions = index_ + 1;
    }

    void reverse(const Action& action) {
        require(plan_.forward_actions > 0, "the last step has not been advanced yet");
        require(action.first == adjoint_ && action.last == adjoint_ - 1,
                "this is not the next step to reverse");
        require(action.last == model_, "the working state is that of another step");
        adjoint_ = action.last;
    }

    std::int64_t write(const Action& action) {
        TierSlots& tier = tier_of(action);
        require(action.first == model_, "the working state is that of another step");
        require(!tier.stored.contains(action.first), "it is stored there already");
        const std::int64_t slot = tier.take();
        tier.stored[action.first] = {slot, index_};
        return slot;
    }

    std::int64_t read(const Action& action) {
        TierSlots& tier = tier_of(action);
        const auto found = tier.stored.find(action.first);
        require(found != tier.stored.end(), "it is not stored there");
        model_ = action.first;
        written_by_[index_] = found->second.written_by;
        return found->second.slot;
    }

    std::int64_t discard(const Action& action) {
        TierSlots& tier = tier_of(action);
        const auto found = tier.stored.find(action.first);
        require(found != tier.stored.end(), "it is not stored there");
        const std::int64_t slot = found->second.slot;
        tier.stored.erase(found);
        tier.free.push_back(slot);
        return slot;
    }

    void finish() {
        require(adjoint_ == 0, "steps are left that were not reversed");
        for (const TierSlots& tier : tiers_) {
            require(tier.stored.empty(), "checkpoints are left that were not discarded");
            plan_.slots.push_back(tier.slots);
        }
    }

    // From the end: what each tier reads next, and the next other state after that.
    void look_ahead() {
        constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
        std::vector<std::size_t> next(tiers_.size(), none), other(tiers_.size(), none);
        bool needs_state = false;
        for (std::size_t i = plan_.actions.size(); i-- > 0;) {
            PlannedAction& planned = plan_.actions[i];
            const ActionKind kind = planned.action.kind;
            if (kind == ActionKind::discard)
                planned.needs_state = needs_state;
            else
                needs_state = kind != ActionKind::read;
            if (kind != ActionKind::read) continue;

            const auto tier = static_cast<std::size_t>(planned.action.tier);
            const auto step_of = [&](std::size_t index) { return actions_[index].first; };
            if (next[tier] != none && step_of(next[tier]) != planned.action.first)
                other[tier] = next[tier];
            next[tier] = i;
            if (other[tier] == none || written_by_[other[tier]] > i) continue;
            planned.next_slot = plan_.actions[other[tier]].slot;
            planned.next_step = step_of(other[tier]);
        }
    }

    std::span<const Action> actions_;
    std::vector<TierSlots> tiers_;
    std::vector<std::size_t> written_by_;  // (action): of a read, the write it goes back to
    ActionPlan plan_;
    std::size_t index_ = 0;
    std::int64_t model_ = 0, adjoint_ = 0;
};

}  // namespace

ActionPlan plan_actions(std::span<const Action> actions, int tiers) {
    return ActionPlanner(actions, tiers).plan();
}

}  // namespace eddy::inline v0
