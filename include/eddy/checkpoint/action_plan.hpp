#pragma once
// An action list made ready to run: checked, with a slot for every checkpoint and with what the
// list makes known in advance: which state a tier is asked for next, and whether the state in hand
// is still needed.
// Test: tests/checkpoint/scheduled_loop.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/checkpoint/action.hpp>
#include <eddy/core/export.hpp>
#include <span>
#include <vector>

namespace eddy::inline v0 {

/// An action with its slot.
struct PlannedAction {
    Action action;
    std::int64_t slot = -1;  ///< of write, read and discard, in the store of the tier
    std::int64_t next_slot =
        -1;  ///< read: where the next other state is that this tier will be asked for; -1: unknown
    std::int64_t next_step = -1;
    bool needs_state = false;  ///< discard: the working state is used again before the next read
};

/// A list that was checked.
struct ActionPlan {
    std::vector<PlannedAction> actions;
    std::size_t forward_actions = 0;  ///< so many make the forward run; the others reverse it
    std::int64_t length = 0;          ///< steps
    std::vector<std::int64_t> slots;  ///< (tier)
};

/// Plans a list for stores of that many tiers. Throws `InvalidArgument`, naming the action, unless
/// the list advances all steps before it reverses the first, and keeps the invariants of
/// action.hpp.
[[nodiscard]] EDDY_EXPORT ActionPlan plan_actions(std::span<const Action> actions, int tiers);

}  // namespace eddy::inline v0
