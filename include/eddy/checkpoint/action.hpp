#pragma once
// A checkpoint schedule written out as the actions that adjoint frameworks use: forward i -> j,
// write, read, discard, reverse. The model holds one working state; a checkpoint is named by its
// step and its tier, so a list says nothing of slots and any executor can replay it. Invariants of
// every list that eddy makes (the tests hold each list to them): forward starts where the working
// state is and never passes the adjoint, a checkpoint exists when it is read and is written once,
// the working state is the input of the step that is reversed, and storage is empty at the end. The
// vocabulary follows Griewank and Walther, "Algorithm 799: revolve", ACM TOMS 26(1), 2000.
// Test: tests/checkpoint/action.cpp

#include <concepts>
#include <cstdint>
#include <eddy/core/export.hpp>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace eddy::inline v0 {

enum class ActionKind : std::uint8_t { forward, write, read, discard, reverse };

/// Tiers are numbered from the fastest.
inline constexpr int memory_tier = 0, disk_tier = 1;

/// One instruction of a schedule; make it with the named functions.
struct Action {
    ActionKind kind;
    int tier;            ///< where the checkpoint is; 0 for forward and reverse
    std::int64_t first;  ///< the step it starts from, or the step of the checkpoint
    std::int64_t last;   ///< the step it ends at; `first` for write, read and discard

    /// Advances the working state from x_first to x_last.
    static constexpr Action forward(std::int64_t first, std::int64_t last) {
        return {ActionKind::forward, 0, first, last};
    }
    /// Stores the working state x_step.
    static constexpr Action write(std::int64_t step, int tier = memory_tier) {
        return {ActionKind::write, tier, step, step};
    }
    /// Makes the stored x_step the working state; it stays stored.
    static constexpr Action read(std::int64_t step, int tier = memory_tier) {
        return {ActionKind::read, tier, step, step};
    }
    /// Frees the checkpoint of x_step.
    static constexpr Action discard(std::int64_t step, int tier = memory_tier) {
        return {ActionKind::discard, tier, step, step};
    }
    /// Pulls the cotangent of x_{step+1} back to x_step, from the working state x_step.
    static constexpr Action reverse(std::int64_t step) {
        return {ActionKind::reverse, 0, step + 1, step};
    }

    friend constexpr bool operator==(const Action&, const Action&) = default;
};

/// A checkpoint schedule: its actions in order.
using ActionList = std::vector<Action>;

/// One storage tier as a schedule sees it: how many states it holds and what one write and one read
/// cost.
struct StorageTier {
    std::int64_t slots = 0;
    double write_cost = 0;  ///< in the unit of the step cost
    double read_cost = 0;
};

/// What carries out a schedule: `step` arguments are the steps of `Action`.
template <class Executor>
concept ScheduleExecutor = requires(Executor& executor, std::int64_t step, int tier) {
    executor.forward(step, step);
    executor.write(step, tier);
    executor.read(step, tier);
    executor.discard(step, tier);
    executor.reverse(step);
};

/// Carries out `actions` in order.
template <class Executor>
void replay(std::span<const Action> actions, Executor&& executor) {
    static_assert(
        ScheduleExecutor<Executor>,
        "replay: the executor needs forward(first, last), write(step, tier), read(step, tier), "
        "discard(step, tier) and reverse(step)");
    for (const Action& action : actions) {
        switch (action.kind) {
            case ActionKind::forward: executor.forward(action.first, action.last); break;
            case ActionKind::write: executor.write(action.first, action.tier); break;
            case ActionKind::read: executor.read(action.first, action.tier); break;
            case ActionKind::discard: executor.discard(action.first, action.tier); break;
            case ActionKind::reverse: executor.reverse(action.last); break;
        }
    }
}

/// What a schedule asks for in all. `writes`, `reads` and `peak` (most checkpoints held at once)
/// are by tier.
struct ActionCounts {
    std::int64_t forward_steps = 0;
    std::int64_t reverse_steps = 0;
    std::vector<std::int64_t> writes, reads, peak;
};

/// Counts actions by kind. The vectors have an entry for every tier that the list names.
[[nodiscard]] EDDY_EXPORT ActionCounts count_actions(std::span<const Action> actions);

/// The time of `actions` without the pullbacks: forward steps at `step_cost` each, writes and reads
/// at the cost of their tier, one after the other. Throws `InvalidArgument` when the list names a
/// tier that `tiers` lacks.
[[nodiscard]] EDDY_EXPORT double schedule_cost(std::span<const Action> actions,
                                               std::span<const StorageTier> tiers,
                                               double step_cost = 1);

/// One action as text: "forward 0 -> 5", "write 5 to memory", "read 5 from disk", "discard 5 from
/// disk", "reverse 6 -> 5".
[[nodiscard]] EDDY_EXPORT std::string to_string(const Action& action);

/// A list of actions as text, one a line.
[[nodiscard]] EDDY_EXPORT std::string to_string(std::span<const Action> actions);

EDDY_EXPORT std::ostream& operator<<(std::ostream& out, const Action& action);

}  // namespace eddy::inline v0
