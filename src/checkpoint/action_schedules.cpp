#include <algorithm>
#include <eddy/checkpoint/action_schedules.hpp>
#include <eddy/checkpoint/checkpoint_stack.hpp>
#include <eddy/core/error.hpp>
#include <numeric>
#include <string>
#include <vector>

namespace eddy::inline v0 {
namespace {

// CheckpointedLoop's two sweeps (checkpointed_loop.hpp) with actions in the place of states.
class LoopRecorder {
  public:
    explicit LoopRecorder(const LoopOptions& options)
        : sequence_(plan_placement(options, "loop_actions")),
          step_in_(static_cast<std::size_t>(sequence_.plan().slots), nothing) {
        stack_.reserve(sequence_.plan().slots);
    }

    const PlacementPlan& plan() const { return sequence_.plan(); }

    ActionList record(std::int64_t length) && {
        run(length);
        reverse(length);
        return std::move(actions_);
    }

  private:
    using Entry = CheckpointStack::Entry;
    static constexpr std::int64_t nothing = -1;

    void run(std::int64_t length) {
        std::int64_t step = 0;
        for (Placed next = sequence_.next(); next.step < length; next = sequence_.next()) {
            forward(step, next.step);
            step = next.step;
            std::int64_t& held = step_in_[static_cast<std::size_t>(next.slot)];
            if (held != nothing) actions_.push_back(Action::discard(held));
            held = step;
            stack_.place(next.slot, step);
            actions_.push_back(Action::write(step));
        }
        forward(step, length);
    }

    void reverse(std::int64_t length) {
        stack_.collect_free();
        while (length > 0) {
            const Entry top = stack_.top();
            actions_.push_back(Action::read(top.step));
            if (top.step < length - 1) advance_from(top.step, length);
            actions_.push_back(Action::reverse(--length));
            if (stack_.top().step != length) continue;
            actions_.push_back(Action::discard(length));
            stack_.pop();
        }
    }

    void advance_from(std::int64_t step, std::int64_t end) {
        while (const std::int64_t distance = sequence_.split(end - step, stack_.num_free())) {
            forward(step, step + distance);
            step += distance;
            stack_.push(step);
            actions_.push_back(Action::write(step));
        }
        forward(step, end - 1);
    }

    void forward(std::int64_t first, std::int64_t last) {
        if (first < last) actions_.push_back(Action::forward(first, last));
    }

    PlacementSequence sequence_;
    CheckpointStack stack_;
    std::vector<std::int64_t> step_in_;  // (slot), on the way forward
    ActionList actions_;
};

// Calls visit(action, stack index) for every write, read and discard of a list that touches only
// the top of its stack.
template <class Actions, class Visit>
void for_each_access(Actions& actions, Visit visit) {
    std::vector<std::int64_t> stack;
    for (auto& action : actions) {
        if (action.kind == ActionKind::forward || action.kind == ActionKind::reverse) continue;
        if (action.kind == ActionKind::write) stack.push_back(action.first);
        internal_check(!stack.empty() && stack.back() == action.first,
                       "an offline schedule is a stack");
        visit(action, stack.size() - 1);
        if (action.kind == ActionKind::discard) stack.pop_back();
    }
}

// The tier of every stack index: the most accessed ones in memory; of equals, the higher one.
std::vector<int> tiers_by_index(const ActionList& actions, std::int64_t memory_slots,
                                std::int64_t slots) {
    std::vector<std::int64_t> accesses(static_cast<std::size_t>(slots), 0);
    for_each_access(actions, [&](const Action& action, std::size_t index) {
        if (action.kind != ActionKind::discard) ++accesses[index];
    });
    std::vector<std::size_t> busiest(accesses.size());
    std::iota(busiest.rbegin(), busiest.rend(), std::size_t{0});
    std::ranges::stable_sort(busiest, std::ranges::greater{},
                             [&](std::size_t index) { return accesses[index]; });

    std::vector<int> tiers(accesses.size(), disk_tier);
    busiest.resize(std::min(busiest.size(), static_cast<std::size_t>(memory_slots)));
    for (std::size_t index : busiest) tiers[index] = memory_tier;
    return tiers;
}

}  // namespace

ActionList loop_actions(std::int64_t length, const LoopOptions& options) {
    require_argument(length >= 0, "loop_actions: length = {}; give a length of at least 0", length);
    require_argument(static_cast<std::size_t>(length) < ActionList().max_size(),
                     "loop_actions: a length of {}, whose list no memory can hold; give at most {}",
                     length, ActionList().max_size() - 1);
    LoopRecorder recorder(options);
    const PlacementPlan& plan = recorder.plan();
    require_argument(length <= plan.limit && (!plan.fixed_length || length == plan.limit),
                     "loop_actions: a length of {} with options for {}{} steps; make them agree",
                     length, plan.fixed_length ? "" : "at most ", plan.limit);
    return std::move(recorder).record(length);
}

ActionList multistage_actions(std::int64_t length, std::int64_t memory_slots,
                              std::int64_t disk_slots) {
    require_argument(memory_slots >= 0 && disk_slots >= 0,
                     "multistage_actions: {} slots in memory, {} on disk; give at least 0 each",
                     memory_slots, disk_slots);
    require_argument(length >= 0, "multistage_actions: length = {}; give a length of at least 0",
                     length);
    const std::int64_t slots = schedule::add(memory_slots, disk_slots);
    require_argument(slots > 0 || length == 0, "multistage_actions: no slots; x_0 needs one");
    ActionList actions = loop_actions(length, {.checkpoints = slots, .length = length});
    const std::vector<int> tiers = tiers_by_index(actions, memory_slots, std::min(length, slots));
    for_each_access(actions,
                    [&](Action& action, std::size_t index) { action.tier = tiers[index]; });
    return actions;
}

}  // namespace eddy::inline v0
