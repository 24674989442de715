#pragma once
// A while loop of unknown length in bounded memory, and its exact reverse.
// The two sweeps are those of sweeps.hpp: plain `advance` throughout; `pullback` once per step, on
// states that equal the first ones bit for bit. Here is what they need on a host: memory, a store for
// the states, the caller's condition, and the check that the body is deterministic.
// Test: tests/checkpoint/checkpointed_loop.cpp

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <eddy/checkpoint/checkpoint_stack.hpp>
#include <eddy/checkpoint/placement.hpp>
#include <eddy/checkpoint/presence.hpp>
#include <eddy/checkpoint/state_record.hpp>
#include <eddy/checkpoint/store.hpp>
#include <eddy/checkpoint/sweeps.hpp>
#include <eddy/checkpoint/unless_done.hpp>
#include <eddy/core/bytes_of.hpp>
#include <eddy/core/error.hpp>
#include <eddy/core/result.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

/// What a loop repeats: one step forward, and one step of the cotangent backward. `advance` must
/// give the same state again when it is called again. A body may offer `advance_in_place(State&,
/// step) const` as well: it is used where the old state is not needed, so that states with heap
/// memory are advanced without allocating. So with `pullback_in_place(const State&, step,
/// Cotangent&)`, which turns the cotangent of x_{n+1} into that of x_n. The cotangent may be of a
/// type of its own.
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

[[noreturn]] inline void throw_cancelled(std::int64_t reversed, std::int64_t steps) {
    throw Cancelled(compose(
        "CheckpointedLoop::reverse: cancelled when {} of {} steps had been reversed; call run and "
        "reverse again for a gradient",
        reversed, steps));
}

/// One step of the state, in place where the body can do so.
template <class Body, class State>
void advance(const Body& body, State& x, std::int64_t step) {
    if constexpr (requires { body.advance_in_place(x, step); }) {
        body.advance_in_place(x, step);
    } else {
        x = body.advance(std::as_const(x), step);
    }
}

/// One step of the cotangent, in place where the body can do so. A body that evaluates the step once
/// more on the way passes the state that it finds to `observers`, if it takes one.
template <class Body, class State, class Cotangent, class... Observers>
void pull_back(Body& body, const State& x, std::int64_t step, Cotangent& cotangent,
               const Observers&... observers) {
    if constexpr (requires { body.pullback_in_place(x, step, cotangent, observers...); }) {
        body.pullback_in_place(x, step, cotangent, observers...);
    } else if constexpr (sizeof...(Observers) == 0 || requires {
                             body.pullback(x, step, std::as_const(cotangent), observers...);
                         }) {
        cotangent = body.pullback(x, step, std::as_const(cotangent), observers...);
    } else {
        pull_back(body, x, step, cotangent);
    }
}

}  // namespace detail

/// Runs a loop of unknown length within a fixed number of slots for checkpoints, and reverses it.
/// The constructor allocates the stack for at most 4095 slots, and at most a mebibyte of slots.
/// `run` allocates further slots when they are first used. It also generates the placement table as
/// far as it gets, once for all loops with as many checkpoints; `generate_tables` does so
/// beforehand. The determinism check allocates hashes, and copies of a State allocate what they
/// need.
template <class State, class Body, class Store = MemoryStore<State>, class Cotangent = State>
class CheckpointedLoop {
    static_assert(
        !detail::AdvanceIsNotConst<Body, State>,
        "CheckpointedLoop: the body's advance must be const, because it is called again for the "
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
          record_(options.determinism_check),
          options_(std::move(options)),
          store_(std::move(store)) {
        check_options();
        stack_.reserve(plan().slots);
        store_.reserve(plan().slots);
    }

    /// Advances from x_0 while `go_on(x_n, n)` holds, and returns the last state. That state is
    /// valid until the next run; the checkpoints of an earlier run are freed.
    /// If body, condition or store throw, or the run is cancelled, all slots are freed and the loop
    /// may run again.
    template <class Condition>
    const State& run(const State& x0, Condition&& go_on) {
        static_assert(std::is_invocable_r_v<bool, Condition&, const State&, std::int64_t>,
                      "CheckpointedLoop::run: the condition must be callable as go_on(const "
                      "State&, int64_t) -> bool");
        const auto call = presence_.enter("CheckpointedLoop::run");
        if (options_.memory_bytes > 0) place_within(bytes_of(x0));
        begin_run();
        auto guard = free_unless_done();
        State x = std::addressof(x0) != last_address() ? reuse(last_, x0) : State(x0);
        if (record_.is_on()) {
            Sweep<true, Condition> sweep{*this, &go_on};
            steps_ = detail::sweep_forward(sweep, x, sequence_, stack_, counters_);
        } else {
            Sweep<false, Condition> sweep{*this, &go_on};
            steps_ = detail::sweep_forward(sweep, x, sequence_, stack_, counters_);
        }
        last_ = std::move(x);
        state_bytes_ = bytes_of(*last_);
        count_bytes();
        guard.done = result_ != Result::cancelled;
        reversible_ = guard.done;
        return *last_;
    }

    /// Runs exactly `length` steps, and returns the last state.
    const State& run(const State& x0) {
        require_argument(plan().fixed_length,
                         "CheckpointedLoop::run: no condition and no length; give one of them");
        return run(
            x0, [length = plan().limit](const State&, std::int64_t step) { return step < length; });
    }

    /// The backward pass: takes the cotangent of the last state and returns that of x_0. It uses
    /// the checkpoints up, so it can be called once for each run.
    /// If body or store throw, or the loop is cancelled (which throws Cancelled), all slots are
    /// freed and the loop may run again.
    [[nodiscard]] Cotangent reverse(Cotangent cotangent) {
        const auto call = presence_.enter("CheckpointedLoop::reverse");
        require_argument(
            reversible_,
            "CheckpointedLoop::reverse: there is no finished run to reverse{}; call run first",
            result_ == Result::cancelled ? ", because it was cancelled" : "");
        reversible_ = false;
        auto guard = free_unless_done();
        if (record_.is_on()) {
            Sweep<true> sweep{*this};
            guard.done = detail::sweep_back(sweep, cotangent, steps_, sequence_, stack_, counters_);
        } else {
            Sweep<false> sweep{*this};
            guard.done = detail::sweep_back(sweep, cotangent, steps_, sequence_, stack_, counters_);
        }
        count_bytes();
        if (!guard.done) throw_cancelled();
        return cotangent;
    }

    /// The state that the last run returned.
    [[nodiscard]] const State& last() const {
        require_argument(last_.has_value(),
                         "CheckpointedLoop::last: nothing has run yet; call run first");
        return *last_;
    }
    /// The same, moved out: the loop no longer has it.
    [[nodiscard]] State take_last() {
        static_cast<void>(last());
        State last = std::move(*last_);
        last_.reset();
        return last;
    }
    /// The cost of the last run and of its backward pass.
    [[nodiscard]] const LoopCounters& counters() const { return counters_; }
    /// How the last `run` or `reverse` ended: success, max_steps_reached or cancelled.
    [[nodiscard]] Result result() const { return result_; }
    /// The number of steps of the last run.
    [[nodiscard]] std::int64_t steps() const { return steps_; }
    /// The options after all checks, with every choice made.
    [[nodiscard]] const PlacementPlan& plan() const { return sequence_.plan(); }
    /// The body, with all that its pullback has accumulated.
    [[nodiscard]] Body& body() { return body_; }
    /// The store of the checkpoints.
    [[nodiscard]] Store& store() { return store_; }
    /// Bytes of the stack and of the slots in memory, without memory that states own.
    [[nodiscard]] std::int64_t bytes_of_lists() const {
        return stack_.num_bytes() + store_.num_bytes();
    }

    /// Other options for the runs to come, which may place their checkpoints otherwise. Body, store and
    /// memory stay; what the last run has kept is freed.
    void replan(LoopOptions options) {
        const auto call = presence_.enter("CheckpointedLoop::replan");
        sequence_ = PlacementSequence(plan_placement(options, "CheckpointedLoop"));
        record_ = detail::StateRecord<State>(options.determinism_check);
        options_ = std::move(options);
        check_options();
        stack_.reserve(plan().slots);
        begin_run();
    }

    /// Generates the placement tables for loops of up to `steps` steps now, not in `run`.
    void generate_tables(std::int64_t steps) { sequence_.generate_to(steps); }

  private:
    using Entry = CheckpointStack::Entry;

    void check_options() const {
        require_argument(options_.keep == Keep::states,
                         "CheckpointedLoop: keep = Keep::residuals on a body that keeps none; take "
                         "scan, whose body has a linearization, or leave keep out");
        require_argument(!record_.is_on() || HashableState<State>,
                         "CheckpointedLoop: determinism_check on a state without a hash; "
                         "specialise StateHash for it");
    }

    [[nodiscard]] auto free_unless_done() {
        return detail::UnlessDone([this] {
            stack_.clear();
            store_.release();
        });
    }

    // A working state with the value of `value`, in the memory that `spare` has, if any.
    [[nodiscard]] static State reuse(std::optional<State>& spare, const State& value) {
        if (!spare) return State(value);
        State state = std::move(*spare);
        spare.reset();
        state = value;
        return state;
    }

    [[nodiscard]] const State* last_address() const {
        return last_ ? std::addressof(*last_) : nullptr;
    }

    void place_within(std::int64_t state_bytes) {
        const LoopOptions placed = with_checkpoints(options_, state_bytes, "CheckpointedLoop");
        sequence_ = PlacementSequence(plan_placement(placed, "CheckpointedLoop"));
        stack_.reserve(plan().slots);
    }
    void count_bytes() { counters_.peak_bytes = counters_.peak_checkpoints * state_bytes_; }

    void begin_run() {
        reversible_ = false;
        steps_ = 0;
        counters_ = {};
        record_.clear();
        while (stack_.size() > 0) {  // of a run that was not reversed
            store_.discard(stack_.top().slot);
            stack_.pop();
        }
        stack_.clear();
        store_.reserve(plan().slots);
        sequence_.restart();
    }

    /// A state on the way back: in its slot, and not copied, until it is advanced.
    struct Replayed {
        const State* kept;
        std::optional<State> advanced;
        [[nodiscard]] const State& state() const { return advanced ? *advanced : *kept; }
    };

    /// What the sweeps see of the loop.
    template <bool checked, class Condition = void>
    struct Sweep {
        CheckpointedLoop& loop;
        std::remove_reference_t<Condition>* go_on = nullptr;

        // The condition is asked once a step.
        [[nodiscard]] bool goes_on(const State& x, std::int64_t step) {
            if constexpr (checked) loop.record_.record(x);
            if (!(*go_on)(x, step)) return ends(Result::success);
            if (step == loop.plan().limit) return ends(Result::max_steps_reached);
            if (loop.options_.stop()) return ends(Result::cancelled);
            return true;
        }
        [[nodiscard]] bool ends(Result result) {
            loop.result_ = result;
            return false;
        }
        void advance(State& x, std::int64_t step) const {
            [[maybe_unused]] const auto noting = note_step();
            detail::advance(std::as_const(loop.body_), x, step);
        }

        [[nodiscard]] bool keeps_going() const { return !loop.options_.stop(); }
        void again(Replayed& x, std::int64_t step) const {
            if (x.advanced)
                advance(*x.advanced, step);
            else
                first_advance(x, step);
            if constexpr (checked) loop.record_.verify(*x.advanced, step + 1);
        }
        void first_advance(Replayed& x, std::int64_t step) const {
            [[maybe_unused]] const auto noting = note_step();
            x.advanced.emplace(loop.first_advance(*x.kept, step));
        }
        [[nodiscard]] auto note_step() const {
            if constexpr (checked) {
                return loop.record_.note_step();
            } else {
                return 0;
            }
        }
        void recycle(Replayed&& x) const {
            if (x.advanced) loop.work_ = std::move(x.advanced);
        }
        void pull(const Replayed& x, std::int64_t step, Cotangent& cotangent) const {
            if constexpr (checked) {
                const auto noting = note_step();
                detail::pull_back(loop.body_, x.state(), step, cotangent,
                                  [&](const State& next) { loop.record_.verify(next, step + 1); });
            } else {
                detail::pull_back(loop.body_, x.state(), step, cotangent);
            }
        }

        void write(std::int64_t slot, std::int64_t step, const State& x) const {
            loop.store_.write(slot, step, x);
        }
        void write(std::int64_t slot, std::int64_t step, const Replayed& x) const {
            loop.store_.write(slot, step, x.state());
        }
        [[nodiscard]] Replayed read(Entry entry) const { return {&loop.read(entry), std::nullopt}; }
        void will_read(Entry entry) const { loop.store_.will_read(entry.slot, entry.step); }
        void discard(std::int64_t slot) const { loop.store_.discard(slot); }
    };

    [[nodiscard]] State first_advance(const State& start, std::int64_t step) {
        if constexpr (requires(const Body& body, State& x) { body.advance_in_place(x, step); }) {
            State x = reuse(work_, start);
            body_.advance_in_place(x, step);
            return x;
        } else {
            return body_.advance(start, step);
        }
    }

    [[nodiscard]] const State& read(Entry entry) {
        const State& x = store_.read(entry.slot, entry.step);
        if (record_.is_on()) {
            if (!record_.has(x, entry.step)) throw_altered(entry);
        }
        return x;
    }

    [[noreturn]] void throw_cancelled() {
        result_ = Result::cancelled;
        detail::throw_cancelled(counters_.pullbacks, steps_);
    }

    [[noreturn]] static void throw_altered(Entry entry) {
        throw StorageError(detail::compose(
            "CheckpointedLoop: slot {} does not hold what was written at step {}; something else "
            "has written to the store or its states",
            entry.slot, entry.step));
    }

    Body body_;
    PlacementSequence sequence_;
    detail::StateRecord<State> record_;  // empty unless checked
    LoopOptions options_;
    Store store_;
    CheckpointStack stack_;
    std::optional<State> last_;  // what run returned
    std::optional<State> work_;  // memory for working states of reverse
    LoopCounters counters_;
    std::int64_t state_bytes_ = 0, steps_ = 0;
    Result result_ = Result::success;
    bool reversible_ = false;
    detail::Presence presence_;
};

}  // namespace eddy::inline v0
