#pragma once
// A while loop of unknown length in bounded memory, and its exact reverse.
//
// `run` advances the state and keeps what the placement asks for. `reverse` takes the latest
// checkpoint v and the step g after the last one not yet reversed: if v is that step, it is pulled
// back and its slot is free; else the state is advanced again from v, leaving checkpoints at the
// binomial distances of schedule.hpp, up to step g - 1. Plain `advance` throughout; `pullback` once
// per step, on states that equal the first ones bit for bit. Invariants: slot of x_0 is never
// evicted; checkpoints are ordered by step; none is after g.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <eddy/checkpoint/checkpoint_stack.hpp>
#include <eddy/checkpoint/placement.hpp>
#include <eddy/checkpoint/state_hash.hpp>
#include <eddy/checkpoint/store.hpp>
#include <eddy/core/error.hpp>
#include <eddy/core/result.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace eddy {

/// What a loop repeats: one step forward, and one step of the cotangent backward. `advance` must
/// give the same state again when it is called again. A body may offer `advance_in_place(State&,
/// step) const` as well: it is used where the old state is not needed, so that states with heap
/// memory are advanced without allocating. The cotangent may be of a type of its own.
template <class Body, class State, class Cotangent = State>
concept LoopBody = requires(Body& body, const Body& fixed, const State& x, std::int64_t step,
                            const Cotangent& cotangent) {
    { fixed.advance(x, step) } -> std::convertible_to<State>;
    { body.pullback(x, step, cotangent) } -> std::convertible_to<Cotangent>;
};

namespace detail {

/// A body whose `advance` is not const, which LoopBody alone would not say.
template <class Body, class State>
concept AdvanceIsNotConst = requires(Body& body, const State& x, std::int64_t step) {
    body.advance(x, step);
}
&&!requires(const Body& fixed, const State& x, std::int64_t step) { fixed.advance(x, step); };

}  // namespace detail

/// What a loop did since `run` began.
struct LoopCounters {
    std::int64_t advances = 0;    // every call of advance
    std::int64_t recomputed = 0;  // those made in reverse
    std::int64_t pullbacks = 0;   // one per step
    std::int64_t stores = 0;      // states written into slots
    std::int64_t loads = 0;       // states read from slots
    std::int64_t peak_checkpoints = 0;

    friend bool operator==(const LoopCounters&, const LoopCounters&) = default;
};

/// Runs a loop of unknown length within a fixed number of slots, and reverses it.
/// Allocation: the stack for 4095 slots and a mebibyte of slots at most when the loop is made; in
/// `run`, as many more as are used for the first time, a piece of the placement table the first
/// time that any loop with as many checkpoints gets so far (`generate_tables` does it beforehand),
/// hashes if the determinism check is on, and what the State's own copies allocate.
template <class State, class Body, class Store = MemoryStore<State>, class Cotangent = State>
class CheckpointedLoop {
    static_assert(
        !detail::AdvanceIsNotConst<Body, State>,
        "CheckpointedLoop: the body's advance must be const, for it is called again for the "
        "same step: mark it const; work vectors may be mutable members");
    static_assert(
        LoopBody<Body, State, Cotangent> || detail::AdvanceIsNotConst<Body, State>,
        "CheckpointedLoop: the body must offer advance(const State&, int64_t) const -> State and "
        "pullback(const State&, int64_t, const State& cotangent) -> State");
    static_assert(
        CheckpointStore<Store, State>,
        "CheckpointedLoop: the store must satisfy CheckpointStore<Store, State>, see store.hpp");

  public:
    explicit CheckpointedLoop(Body body, LoopOptions options = {}, Store store = Store())
        : body_(std::move(body)),
          sequence_(plan_placement(options, "CheckpointedLoop")),
          cancelled_(std::move(options.cancelled)),
          checked_(options.determinism_check),
          store_(std::move(store)) {
        require_argument(!checked_ || HashableState<State>, [] {
            return "CheckpointedLoop: determinism_check on a state without a hash; specialise "
                   "StateHash for it";
        });
        stack_.reserve(plan().slots);
        store_.reserve(plan().slots);
    }

    /// Advances from x_0 while `go_on(x_n, n)` holds, and returns the last state; it stays valid
    /// until the next run. Forgets an earlier run. If body, condition or store throw, or the run is
    /// cancelled, all slots are freed and the loop may run again.
    template <class Condition>
    const State& run(const State& x0, Condition&& go_on) {
        static_assert(std::is_invocable_r_v<bool, Condition&, const State&, std::int64_t>,
                      "CheckpointedLoop::run: the condition must be callable as go_on(const "
                      "State&, int64_t) -> bool");
        begin_run();
        FreeUnlessDone guard{this};
        State x = std::addressof(x0) != last_address() ? reuse(last_, x0) : State(x0);
        result_ = checked_ ? sweep<true>(std::move(x), go_on) : sweep<false>(std::move(x), go_on);
        guard.done = result_ != Result::cancelled;
        reversible_ = guard.done;
        return *last_;
    }

    /// Runs exactly `length` steps.
    const State& run(const State& x0) {
        require_argument(plan().fixed_length, [] {
            return "CheckpointedLoop::run: no condition and no length; give one of them";
        });
        return run(x0, [](const State&, std::int64_t) { return true; });
    }

    /// Pulls the cotangent of the last state back to one of x_0. Once per run: it uses the
    /// checkpoints up. If body or store throw, all slots are freed and the loop may run again.
    [[nodiscard]] Cotangent reverse(Cotangent cotangent) {
        require_argument(reversible_, [] {
            return "CheckpointedLoop::reverse: there is no finished run to reverse; call run first";
        });
        reversible_ = false;
        FreeUnlessDone guard{this};
        stack_.collect_free();
        hint_below_top();
        std::int64_t end = steps_;  // steps from here on are reversed
        while (end > 0) {
            const auto top = stack_.top();
            if (top.step == end - 1) {
                cotangent = body_.pullback(load(top), top.step, std::as_const(cotangent));
            } else {
                cotangent = checked_ ? pull_back_behind<true>(top, end, std::as_const(cotangent))
                                     : pull_back_behind<false>(top, end, std::as_const(cotangent));
            }
            ++counters_.pullbacks;
            if (top.step == --end) drop_top();
        }
        guard.done = true;
        return cotangent;
    }

    /// What the last run returned. There must have been one.
    [[nodiscard]] const State& last() const { return *last_; }
    [[nodiscard]] const LoopCounters& counters() const { return counters_; }
    /// success, max_steps_reached or cancelled.
    [[nodiscard]] Result result() const { return result_; }
    /// Steps that the last run made.
    [[nodiscard]] std::int64_t steps() const { return steps_; }
    [[nodiscard]] const PlacementPlan& plan() const { return sequence_.plan(); }
    [[nodiscard]] Body& body() { return body_; }
    [[nodiscard]] Store& store() { return store_; }

    /// Generates the placement tables for loops of up to `steps` steps now rather than in `run`.
    void generate_tables(std::int64_t steps) { sequence_.generate_to(steps); }

  private:
    using Entry = CheckpointStack::Entry;

    struct FreeUnlessDone {
        CheckpointedLoop* loop;
        bool done = false;
        explicit FreeUnlessDone(CheckpointedLoop* owner) : loop(owner) {}
        FreeUnlessDone(const FreeUnlessDone&) = delete;
        FreeUnlessDone& operator=(const FreeUnlessDone&) = delete;
        ~FreeUnlessDone() {
            if (done) return;
            loop->stack_.clear();
            loop->store_.release();
        }
    };

    // A working state with the value of `value`, in the memory that `spare` has, if any.
    [[nodiscard]] static State reuse(std::optional<State>& spare, const State& value) {
        if (!spare) return State(value);
        State state = std::move(*spare);
        state = value;
        return state;
    }

    [[nodiscard]] const State* last_address() const {
        return last_ ? std::addressof(*last_) : nullptr;
    }

    void begin_run() {
        reversible_ = false;
        steps_ = 0;
        counters_ = {};
        hashes_.clear();
        while (stack_.size() > 0) {  // of a run that was not reversed
            store_.discard(stack_.top().slot);
            stack_.pop();
        }
        stack_.clear();
        store_.reserve(plan().slots);
        sequence_.restart();
    }

    // x is a local variable, the check a template parameter, and nothing that is not inlined is
    // called between two pieces of the table: small states then stay in registers.
    template <bool checked, class Condition>
    Result sweep(State x, Condition& go_on) {
        std::int64_t step = 0;
        for (;;) {
            const std::span<const Placed> piece = sequence_.next_piece();
            auto next = piece.begin();
            for (; next != piece.end(); ++step) {
                if constexpr (checked) record(x);
                if (const std::optional<Result> end = end_of_run(std::as_const(x), step, go_on)) {
                    steps_ = counters_.advances = step;
                    last_ = std::move(x);
                    return *end;
                }
                if (step == next->step) {
                    stack_.place(next->slot, step);
                    write(next->slot, step, x);
                    ++next;
                }
                advance(x, step);
            }
        }
    }

    // Whether the run ends with x before `step`, and how. The condition is asked once.
    template <class Condition>
    [[nodiscard]] std::optional<Result> end_of_run(const State& x, std::int64_t step,
                                                   Condition& go_on) const {
        if (step == plan().limit && plan().fixed_length) return Result::success;
        if (!go_on(x, step)) return Result::success;
        if (step == plan().limit) return Result::max_steps_reached;
        if (cancelled_.stop_requested()) return Result::cancelled;
        return std::nullopt;
    }

    // Pulls back step end - 1 from the checkpoint below it, leaving checkpoints on the way.
    template <bool checked>
    Cotangent pull_back_behind(Entry start, std::int64_t end, const Cotangent& cotangent) {
        State x = first_advance(load(start), start.step);
        std::int64_t step = start.step + 1;  // x is the state before this step
        std::int64_t checkpoint = start.step;
        for (;;) {
            const std::int64_t distance = sequence_.split(end - checkpoint, stack_.num_free());
            const std::int64_t target = distance == 0 ? end - 1 : checkpoint + distance;
            counters_.advances += target - checkpoint;
            counters_.recomputed += target - checkpoint;
            if constexpr (checked) verify(x, step);
            for (; step < target; ++step) {
                advance(x, step);
                if constexpr (checked) verify(x, step + 1);
            }
            if (distance == 0) break;
            write(stack_.push(target), target, x);
            checkpoint = target;
        }
        Cotangent result = body_.pullback(std::as_const(x), end - 1, cotangent);
        work_ = std::move(x);
        return result;
    }

    void advance(State& x, std::int64_t step) const {
        if constexpr (requires(const Body& body) { body.advance_in_place(x, step); }) {
            body_.advance_in_place(x, step);
        } else {
            x = body_.advance(std::as_const(x), step);
        }
    }

    // The state after `start`, which stays in its slot: no copy unless the body advances in place.
    [[nodiscard]] State first_advance(const State& start, std::int64_t step) {
        if constexpr (requires(const Body& body, State& x) { body.advance_in_place(x, step); }) {
            State x = reuse(work_, start);
            body_.advance_in_place(x, step);
            return x;
        } else {
            return body_.advance(start, step);
        }
    }

    void write(std::int64_t slot, std::int64_t step, const State& x) {
        store_.write(slot, step, x);
        ++counters_.stores;
        counters_.peak_checkpoints = std::max(counters_.peak_checkpoints, stack_.size());
    }

    [[nodiscard]] const State& load(Entry entry) {
        ++counters_.loads;
        const State& x = store_.read(entry.slot, entry.step);
        if (checked_) {
            if (hash_of(x) != hash_at(entry.step)) throw_altered(entry);
        }
        return x;
    }

    void drop_top() {
        store_.discard(stack_.top().slot);
        stack_.pop();
        hint_below_top();
    }

    // The checkpoint below the top is read when everything above it is done.
    void hint_below_top() {
        const Entry below = stack_.below_top();
        if (stack_.size() > 1) store_.will_read(below.slot, below.step);
    }

    [[nodiscard]] static std::uint64_t hash_of(const State& x) {
        if constexpr (HashableState<State>) {
            return StateHash<State>{}(x, 0);
        } else {
            return 0;
        }
    }

    [[nodiscard]] std::uint64_t hash_at(std::int64_t step) const {
        return hashes_[static_cast<std::size_t>(step)];
    }

    void record(const State& x) { hashes_.push_back(hash_of(x)); }

    void verify(const State& x, std::int64_t step) const {
        if (hash_of(x) != hash_at(step)) throw_differs(step - 1);
    }

    [[noreturn]] static void throw_differs(std::int64_t step) {
        throw NonDeterministicBody(
            "CheckpointedLoop: step " + std::to_string(step) +
            " gave another state when it was computed again; advance must depend on the state "
            "and the step alone (no hidden state, no unseeded random numbers)");
    }

    [[noreturn]] static void throw_altered(Entry entry) {
        throw StorageError("CheckpointedLoop: slot " + std::to_string(entry.slot) +
                           " does not hold what was written at step " + std::to_string(entry.step) +
                           "; something else has written to the store or its states");
    }

    Body body_;
    PlacementSequence sequence_;
    std::stop_token cancelled_;
    bool checked_;
    Store store_;
    CheckpointStack stack_;
    std::vector<std::uint64_t> hashes_;  // (step) of the state before it; empty unless checked
    std::optional<State> last_;          // what run returned
    std::optional<State> work_;          // memory for working states of reverse
    LoopCounters counters_;
    std::int64_t steps_ = 0;
    Result result_ = Result::success;
    bool reversible_ = false;
};

}  // namespace eddy
