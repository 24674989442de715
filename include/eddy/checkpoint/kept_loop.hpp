#pragma once
// A loop whose steps are linearized as they are made, so that no step is evaluated twice: what each
// pullback reads is kept. With checkpoints the steps fall into equal segments. The state before each
// is kept, and the residuals only of the segment that is taken back: those of the last one are
// recorded on the way forward, those of another when its turn comes, by evaluating it once again. With
// a budget of bytes a plan says what is kept when (scan_plan.hpp); both are lists of actions.
//
// A step offers advance_in_place or advance, as a LoopBody does; record(State&, step), which makes the
// step and returns what its pullback reads; and pull(kept, step, Cotangent&).
// Test: tests/checkpoint/while_loop.cpp, tests/checkpoint/scan.cpp

#include <algorithm>
#include <cstdint>
#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/checkpoint/scan_plan.hpp>
#include <eddy/core/bytes_of.hpp>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace eddy::inline v0::detail {

/// Are residuals what a loop with these options keeps?
[[nodiscard]] inline bool keeps_residuals(const LoopOptions& options) {
    return options.keep == Keep::residuals || options.placement == Placement::store_all;
}

[[nodiscard]] inline LoopOptions with_length(LoopOptions options, std::size_t count) {
    const auto length = static_cast<std::int64_t>(count);
    require_argument(!options.length || *options.length == length,
                     "scan: length = {} but there are {} inputs; make them agree or leave length "
                     "out",
                     options.length.value_or(0), length);
    options.length = length;
    return options;
}

template <class State, class Step>
class KeptLoop {
    using Kept =
        decltype(std::declval<const Step&>().record(std::declval<State&>(), std::int64_t{}));
    static constexpr std::int64_t bytes_of_kept = fixed_bytes_of<Kept>();

  public:
    KeptLoop(Step step, const LoopOptions& options)
        : step_(std::move(step)),
          plan_(plan_placement(options, "scan")),
          options_(options),
          record_(options.determinism_check) {
        require_argument(!record_.is_on() || HashableState<State>,
                         "scan: determinism_check on a state without a hash; specialise StateHash "
                         "for it");
        if (options.memory_bytes > 0) {
            require_argument(
                bytes_of_kept >= 0 && plan_.fixed_length,
                "scan: memory_bytes with Keep::residuals is planned for a known number of steps, "
                "each of which keeps as many bytes, as traced programs do; give checkpoints");
        } else {
            length_of_segment_ = segment(options, plan_);
        }
    }

    template <class Condition>
    const State& run(const State& x0, Condition&& go_on) {
        const auto call = presence_.enter("scan");
        clear();
        state_bytes_ = bytes_of(x0);
        actions_ = planned_actions(state_bytes_);
        State x = x0;
        auto guard = free_unless_done();
        bool goes = true, keeps = false;
        for (; goes && next_ < actions_.size(); ++next_) {
            const ScanAction action = actions_[next_];
            if (action.kind == ScanActionKind::pullback) break;
            if (action.kind == ScanActionKind::keep || action.kind == ScanActionKind::take) {
                keeps = action.kind == ScanActionKind::keep;
                continue;
            }
            const bool records = action.kind == ScanActionKind::record;
            if (records && plan_.fixed_length)
                kept_.reserve(kept_.size() + static_cast<std::size_t>(action.last - action.first));
            for (std::int64_t step = action.first; step < action.last; ++step, ++steps_) {
                goes = goes_on(x, go_on);
                if (!goes) break;
                if (keeps) start(x);
                keeps = false;
                make_step(x, step, records);
            }
            count_bytes();
        }
        if (goes) {
            static_cast<void>(goes_on(x, go_on));  // how it ends
        } else {
            end_early();
        }
        last_ = std::move(x);
        guard.done = reversible_ = result_ != Result::cancelled;
        return *last_;
    }
    const State& run(const State& x0) {
        return run(x0, [this](const State&, std::int64_t step) { return step < plan_.limit; });
    }

    template <class Cotangent>
    [[nodiscard]] Cotangent reverse(Cotangent cotangent) {
        const auto call = presence_.enter("scan: pullback");
        require_argument(reversible_,
                         "scan: there is no finished run to reverse; linearize again for another "
                         "pullback");
        reversible_ = false;
        auto guard = free_unless_done();
        std::optional<State> x;
        for (; next_ < actions_.size(); ++next_) act(actions_[next_], x, cotangent);
        guard.done = true;
        return cotangent;
    }

    [[nodiscard]] const State& last() const { return *last_; }
    [[nodiscard]] State take_last() {
        State last = std::move(*last_);
        last_.reset();
        return last;
    }
    [[nodiscard]] const LoopCounters& counters() const { return counters_; }
    [[nodiscard]] Result result() const { return result_; }
    [[nodiscard]] std::int64_t steps() const { return steps_; }
    [[nodiscard]] Step& body() { return step_; }

  private:
    struct Start {
        State state;
        std::int64_t step;
    };

    [[nodiscard]] auto free_unless_done() {
        return UnlessDone([this] { kept_.clear(), starts_.clear(); });
    }

    [[nodiscard]] std::vector<ScanAction> planned_actions(std::int64_t state_bytes) const {
        if (options_.memory_bytes > 0) {
            ScanCosts costs{plan_.limit, state_bytes, bytes_of_kept};
            const bool fits = costs.residual_bytes == 0 ||
                              plan_.limit <= options_.memory_bytes / costs.residual_bytes;
            // The loop keeps x_0 itself.
            const std::int64_t budget = options_.memory_bytes - (fits ? 0 : state_bytes);
            return plan_scan(costs, budget, "scan").actions;
        }
        std::vector<std::int64_t> starts{0};
        while (plan_.limit - starts.back() > length_of_segment_)
            starts.push_back(starts.back() + length_of_segment_);
        return plan_segments(starts, plan_.limit).actions;
    }

    /// Steps of a segment, at least one.
    [[nodiscard]] static std::int64_t segment(const LoopOptions& options,
                                              const PlacementPlan& plan) {
        const std::int64_t whole = std::max<std::int64_t>(plan.limit, 1);
        if (options.placement == Placement::store_all) return whole;
        require_argument(plan.fixed_length,
                         "while_loop: keep = Keep::residuals for an unknown number of steps; give "
                         "their length, or placement = Placement::store_all with max_steps");
        require_argument(
            plan.nested_strides.empty(),
            "scan: keep = Keep::residuals with nested_lengths; give checkpoints, one a "
            "segment, instead of the lengths");
        if (options.period > 0) return options.period;
        const std::int64_t slots = options.checkpoints > 0 ? options.checkpoints : plan.slots;
        return (whole - 1) / std::min(slots, whole) + 1;
    }

    void clear() {
        kept_.clear();
        starts_.clear();
        record_.clear();
        counters_ = {};
        steps_ = 0;
        next_ = 0;
        reversible_ = false;
    }

    template <class Condition>
    [[nodiscard]] bool goes_on(const State& x, Condition& go_on) {
        if (record_.is_on()) record_.record(x);
        result_ = Result::success;
        if (!go_on(x, steps_)) return false;
        result_ = Result::max_steps_reached;
        if (steps_ == plan_.limit) return false;
        result_ = Result::cancelled;
        if (options_.stop()) return false;
        return true;
    }
    void start(const State& x) {
        starts_.push_back({x, steps_});
        ++counters_.stores;
        counters_.peak_checkpoints =
            std::max(counters_.peak_checkpoints, static_cast<std::int64_t>(starts_.size()));
    }
    void make_step(State& x, std::int64_t step, bool records) {
        const auto noting = record_.note_step();
        if (records) {
            kept_.push_back(step_.record(x, step));
        } else {
            detail::advance(std::as_const(step_), x, step);
        }
        ++counters_.advances;
    }
    void count_bytes() {
        const auto of_kept = kept_.empty() ? 0 : bytes_of(kept_.back());
        counters_.peak_bytes = std::max(
            counters_.peak_bytes, state_bytes_ * std::ssize(starts_) + of_kept * std::ssize(kept_));
    }

    /// The loop stopped before its plan did: what is there is taken back, segment by segment.
    void end_early() {
        std::int64_t end = steps_ - std::ssize(kept_);
        actions_.clear();
        next_ = 0;
        if (end < steps_) actions_.push_back({ScanActionKind::pullback, end, steps_});
        for (std::size_t k = starts_.size(); k-- > 0;) {
            const std::int64_t begin = starts_[k].step;
            actions_.push_back({ScanActionKind::take, begin, begin});
            actions_.push_back({ScanActionKind::record, begin, end});
            actions_.push_back({ScanActionKind::pullback, begin, end});
            end = begin;
        }
    }

    template <class Cotangent>
    void act(const ScanAction& action, std::optional<State>& x, Cotangent& cotangent) {
        switch (action.kind) {
            case ScanActionKind::keep: starts_.push_back({*x, action.first}); break;
            case ScanActionKind::restart:
                x = starts_.back().state;
                ++counters_.loads;
                break;
            case ScanActionKind::take:
                x = std::move(starts_.back().state);
                starts_.pop_back();
                ++counters_.loads;
                break;
            case ScanActionKind::advance:
            case ScanActionKind::record:
                for (std::int64_t step = action.first; step < action.last; ++step) {
                    throw_if_cancelled();
                    make_step(*x, step, action.kind == ScanActionKind::record);
                    ++counters_.recomputed;
                    if (record_.is_on()) record_.verify(*x, step + 1);
                }
                break;
            case ScanActionKind::pullback:
                for (std::int64_t step = action.last; step-- > action.first; kept_.pop_back()) {
                    throw_if_cancelled();
                    if constexpr (requires(const Kept& kept) { kept.will_read(); }) {
                        if (kept_.size() > 1) kept_.rbegin()[1].will_read();
                    }
                    step_.pull(kept_.back(), step, cotangent);
                    ++counters_.pullbacks;
                }
        }
        if (action.kind != ScanActionKind::pullback) count_bytes();
    }

    void throw_if_cancelled() {
        if (!options_.stop()) return;
        result_ = Result::cancelled;
        throw_cancelled(counters_.pullbacks, steps_);
    }

    Step step_;
    PlacementPlan plan_;
    LoopOptions options_;
    std::int64_t length_of_segment_ = 0;
    std::vector<ScanAction> actions_;
    std::size_t next_ = 0;
    std::int64_t state_bytes_ = 0;
    std::vector<Kept> kept_;     // (step) of those that are recorded
    std::vector<Start> starts_;  // states that are kept
    StateRecord<State> record_;  // empty unless checked
    std::optional<State> last_;
    LoopCounters counters_;
    Result result_ = Result::success;
    std::int64_t steps_ = 0;
    bool reversible_ = false;
    Presence presence_;
};

/// The loop that the options ask for: one that keeps states, or one that keeps residuals.
template <class State, class Step>
class StepLoop {
    using Checkpointed = CheckpointedLoop<State, Step>;
    using WithResiduals = KeptLoop<State, Step>;

  public:
    StepLoop(Step step, LoopOptions options) : loop_(make(std::move(step), std::move(options))) {}

    template <class... Condition>
    const State& run(const State& x0, Condition&&... go_on) {
        return std::visit([&](auto& loop) -> const State& { return loop.run(x0, go_on...); },
                          loop_);
    }
    template <class Cotangent>
    [[nodiscard]] Cotangent reverse(Cotangent cotangent) {
        return std::visit([&](auto& loop) { return loop.reverse(std::move(cotangent)); }, loop_);
    }
    [[nodiscard]] const State& last() const {
        return std::visit([](const auto& loop) -> const State& { return loop.last(); }, loop_);
    }
    [[nodiscard]] State take_last() {
        return std::visit([](auto& loop) { return loop.take_last(); }, loop_);
    }
    [[nodiscard]] const LoopCounters& counters() const {
        return std::visit([](const auto& loop) -> const LoopCounters& { return loop.counters(); },
                          loop_);
    }
    [[nodiscard]] Result result() const {
        return std::visit([](const auto& loop) { return loop.result(); }, loop_);
    }
    [[nodiscard]] std::int64_t steps() const {
        return std::visit([](const auto& loop) { return loop.steps(); }, loop_);
    }
    [[nodiscard]] Step& body() {
        return std::visit([](auto& loop) -> Step& { return loop.body(); }, loop_);
    }

  private:
    using Loop = std::variant<Checkpointed, WithResiduals>;
    static Loop make(Step step, LoopOptions options) {
        if (keeps_residuals(options)) return Loop(std::in_place_index<1>, std::move(step), options);
        return Loop(std::in_place_index<0>, std::move(step), std::move(options));
    }
    Loop loop_;
};

}  // namespace eddy::inline v0::detail
