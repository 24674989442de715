#pragma once
// Which states a loop keeps, chosen by options and settled before the loop begins: `plan_placement`
// checks the options and turns them into a plan; `PlacementSequence` then says, store after store,
// which step goes into which slot on the way forward, and how a gap is divided on the way back. It
// decides from step numbers alone.
// Test: tests/checkpoint/placement.cpp

#include <array>
#include <cstdint>
#include <eddy/checkpoint/cost_greedy.hpp>
#include <eddy/checkpoint/placement_table.hpp>
#include <eddy/core/export.hpp>
#include <eddy/core/online_treeverse.hpp>
#include <eddy/core/schedule.hpp>
#include <eddy/core/staircase.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace eddy::inline v0 {

/// How checkpoints are placed. Every placement gives the same gradient, bit for bit; they differ in
/// memory and time.
enum class Placement : std::uint8_t {
    automatic,         ///< offline where the length is given, else cost_greedy
    cost_greedy,       ///< length unknown, few evaluations; see cost_greedy.hpp
    online_treeverse,  ///< length unknown, as published; see online_treeverse.hpp
    offline,           ///< length given, fewest evaluations
    store_all,         ///< every state: nothing is computed again
    none,              ///< the initial state only: n (n - 1) / 2 steps are computed again
    square_root,       ///< about 2 sqrt(n) states, every step computed at most once more
    periodic,          ///< one state every `period` steps, binomial within a period
};

/// What a scan with checkpoints keeps of its steps.
enum class Keep : std::uint8_t {
    states,  ///< carries at the checkpoints; every step is evaluated again in the backward pass
    residuals  ///< what the pullbacks read, of as many steps in a row as there are between checkpoints
};

/// Whether a loop compares what it computes again: `true`, `false`, or `Check::explain`, which keeps
/// every state, and says in the error which component differs and what the body noted.
class Check {
  public:
    enum Kind : unsigned char { off, hashes, explain };

    constexpr Check(bool on) : kind_(on ? hashes : off) {}
    constexpr Check(Kind kind) : kind_(kind) {}
    [[nodiscard]] constexpr Kind kind() const { return kind_; }

  private:
    Kind kind_;
};

/// Options of a checkpointed loop.
struct LoopOptions {
    /// Slots, including that of the initial state. 0: as many as the placement needs, if that
    /// number is definite. Memory is allocated as slots are used, so a large number costs nothing.
    std::int64_t checkpoints = 0;
    /// Instead of `checkpoints`: bytes of what is stored, by `bytes_of` of the first state. A scan of a
    /// program with Keep::residuals plans carries and residuals within them (scan_plan.hpp). 0: not given.
    std::int64_t memory_bytes = 0;
    /// The largest number of steps. A loop that reaches it ends with Result::max_steps_reached.
    std::int64_t max_steps = schedule::unbounded;
    /// How checkpoints are placed. `automatic` chooses the best placement for what is known of the
    /// length.
    Placement placement = Placement::automatic;
    /// The number of steps, if it is known. If the condition still holds after them, the result is
    /// Result::max_steps_reached.
    std::optional<std::int64_t> length{};
    /// Steps between the states that Placement::periodic keeps.
    std::int64_t period = 0;
    /// Lengths of nested scans: the outermost keeps its states, and each recomputes into the next.
    /// Their product is `length`, or the largest number of steps if no length is given.
    /// Memory is the sum of the lengths. Each length except the first costs at most one more
    /// forward pass.
    std::vector<std::int64_t> nested_lengths{};
    /// Keeps a hash of every state (8 bytes a step), and compares it whenever a step is recomputed;
    /// with Check::explain the state itself, and says what differs.
    Check determinism_check = false;
    /// Checked before each forward step, also before recomputed ones. A cancelled loop frees its
    /// slots, and its result is Result::cancelled. `run` returns the state that it reached;
    /// `reverse` has nothing to return and throws Cancelled.
    std::stop_token cancelled{};
    /// Asked before each step, forward and backward, whether to go on. If it returns false, the loop is
    /// cancelled; what it throws ends the call.
    std::function<bool()> poll{};
    /// Of `scan`: with Keep::residuals the steps are divided into `checkpoints` equal segments. Within
    /// the one that is taken back, what the body's linearization keeps is kept, so that no step there
    /// is evaluated twice; the last segment is never evaluated again.
    Keep keep = Keep::states;

    /// Is the loop to end here? Asks `poll`.
    [[nodiscard]] bool stop() const { return cancelled.stop_requested() || (poll && !poll()); }
};

/// The most states that a loop can keep: slots are numbered in 32 bits.
inline constexpr std::int64_t most_slots = (std::int64_t{1} << 31) - 2;

/// Options that have been checked and settled.
struct PlacementPlan {
    Placement placement;      // never automatic
    std::int64_t slots;       // 1 .. most_slots
    std::int64_t limit;       // the loop ends here at the latest
    bool fixed_length;        // `limit` is the length
    std::int64_t stride = 0;  // periodic: steps between stores on the way forward
    std::vector<std::int64_t>
        nested_strides{};  // decreasing to 1; empty: gaps are divided binomially
};

/// The options with `checkpoints` in place of `memory_bytes`, where a state has so many bytes.
[[nodiscard]] EDDY_EXPORT LoopOptions with_checkpoints(LoopOptions options,
                                                       std::int64_t state_bytes, const char* where);

namespace detail {
/// What a loop with these options keeps between the passes, for reports.
[[nodiscard]] EDDY_EXPORT std::string kept_text(const LoopOptions& options);
}  // namespace detail

/// Checks the options; InvalidArgument, beginning with `where`, says what to change.
[[nodiscard]] EDDY_EXPORT PlacementPlan plan_placement(const LoopOptions& options,
                                                       const char* where);

/// The decisions of a plan: the stores of the way forward, the initial state first, and the splits
/// of the way back. Online placements follow the staircase, which needs no memory, and then a
/// shared table: what a loop does not reach is neither generated nor kept.
class EDDY_EXPORT PlacementSequence {
  public:
    explicit PlacementSequence(PlacementPlan plan);

    [[nodiscard]] const PlacementPlan& plan() const { return plan_; }

    /// Generates the shared tables that a loop of `steps` steps reads, if they are not there yet.
    void generate_to(std::int64_t steps);

    /// Begins a new run.
    void restart();

    /// The next stores, at least one, in order: as many as there are without generating more.
    [[nodiscard]] std::span<const Placed> next_piece();

    /// The next store alone.
    [[nodiscard]] Placed next();

    /// How far after its stored start a gap of `length` steps stores its next state on the way
    /// back; 0: nowhere.
    [[nodiscard]] std::int64_t split(std::int64_t length, std::int64_t free_slots) const {
        if (!plan_.nested_strides.empty()) return nested_split(length);
        return schedule::split(length, free_slots + 1);
    }

  private:
    [[nodiscard]] bool is_online() const {
        return plan_.placement == Placement::cost_greedy ||
               plan_.placement == Placement::online_treeverse;
    }
    /// Does a loop of `steps` steps get behind the staircase?
    [[nodiscard]] bool needs_table(std::int64_t steps) const {
        return is_online() && plan_.slots > 1 && steps >= staircase_.end() - 1;
    }
    void use_table();
    [[nodiscard]] std::span<const Placed> generated();
    [[nodiscard]] Placed next_planned();
    [[nodiscard]] std::int64_t nested_split(std::int64_t length) const;

    PlacementPlan plan_;
    std::shared_ptr<PlacementTable<CostGreedy>> greedy_;  // null until a loop needs it
    std::shared_ptr<PlacementTable<OnlineTreeverse>> treeverse_;
    Staircase staircase_;     // where the placement is online: at its next store
    std::int64_t index_ = 0;  // of the next store in the table
    Placed planned_{0, 0};    // what next_planned yields next, where the placement is not online
    std::array<Placed, 128> planned_piece_{};
};

}  // namespace eddy::inline v0
