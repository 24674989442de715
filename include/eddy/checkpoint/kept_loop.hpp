#pragma once
// A loop whose steps are linearized as they are made, so that no step is evaluated twice: what each
// pullback reads is kept. With checkpoints the steps fall into equal segments. The state before each
// is kept, and the residuals only of the segment that is taken back: those of the last one are
// recorded on the way forward, those of another when its turn comes, by evaluating it once again.
//
// A step offers advance_in_place or advance, as a LoopBody does; record(State&, step), which makes the
// step and returns what its pullback reads; and pull(kept, step, Cotangent&).

#include <algorithm>
#include <cstdint>
#include <eddy/checkpoint/checkpointed_loop.hpp>
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

  public:
    KeptLoop(Step step, const LoopOptions& options)
        : step_(std::move(step)),
          plan_(plan_placement(options, "scan")),
          cancelled_(options.cancelled),
          checked_(options.determinism_check),
          length_of_segment_(segment(options, plan_)) {
        require_argument(!checked_ || HashableState<State>,
                         "scan: determinism_check on a state without a hash; specialise StateHash "
                         "for it");
    }

    template <class Condition>
    const State& run(const State& x0, Condition&& go_on) {
        const auto call = presence_.enter("scan");
        State x = x0;
        clear();
        if (plan_.fixed_length)
            kept_.reserve(static_cast<std::size_t>(std::min(length_of_segment_, plan_.limit)));
        FreeUnlessDone guard{this};
        for (; goes_on(x, go_on); ++steps_) {
            const bool begins = steps_ % length_of_segment_ == 0;
            const bool is_last_segment =
                plan_.limit - steps_ / length_of_segment_ * length_of_segment_ <=
                length_of_segment_;
            if (is_last_segment) {
                kept_.push_back(step_.record(x, steps_));
            } else {
                if (begins) start(x);
                detail::advance(std::as_const(step_), x, steps_);
            }
            ++counters_.advances;
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
        FreeUnlessDone guard{this};
        for (std::int64_t end = steps_; end > 0;) {
            if (kept_.empty()) record_again(end);
            for (; !kept_.empty(); kept_.pop_back()) {
                throw_if_cancelled();
                step_.pull(kept_.back(), --end, cotangent);
                ++counters_.pullbacks;
            }
        }
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
    struct FreeUnlessDone {
        KeptLoop* loop;
        bool done = false;
        explicit FreeUnlessDone(KeptLoop* owner) : loop(owner) {}
        FreeUnlessDone(const FreeUnlessDone&) = delete;
        FreeUnlessDone& operator=(const FreeUnlessDone&) = delete;
        ~FreeUnlessDone() {
            if (!done) loop->kept_.clear(), loop->starts_.clear();
        }
    };

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
        hashes_.clear();
        counters_ = {};
        steps_ = 0;
        reversible_ = false;
    }

    template <class Condition>
    [[nodiscard]] bool goes_on(const State& x, Condition& go_on) {
        if (checked_) hashes_.record(x);
        result_ = Result::success;
        if (!go_on(x, steps_)) return false;
        result_ = Result::max_steps_reached;
        if (steps_ == plan_.limit) return false;
        result_ = Result::cancelled;
        if (cancelled_.stop_requested()) return false;
        return true;
    }
    void start(const State& x) {
        starts_.push_back(x);
        ++counters_.stores;
        counters_.peak_checkpoints =
            std::max(counters_.peak_checkpoints, static_cast<std::int64_t>(starts_.size()));
    }

    /// Records the steps of the segment that ends at `end`, from its start.
    void record_again(std::int64_t end) {
        State x = std::move(starts_.back());
        starts_.pop_back();
        ++counters_.loads;
        const std::int64_t begin = (end - 1) / length_of_segment_ * length_of_segment_;
        for (std::int64_t step = begin; step < end; ++step) {
            throw_if_cancelled();
            kept_.push_back(step_.record(x, step));
            ++counters_.advances;
            ++counters_.recomputed;
            if (checked_) hashes_.verify(x, step + 1);
        }
    }

    void throw_if_cancelled() {
        if (!cancelled_.stop_requested()) return;
        result_ = Result::cancelled;
        throw_cancelled(counters_.pullbacks, steps_);
    }

    Step step_;
    PlacementPlan plan_;
    std::stop_token cancelled_;
    bool checked_;
    std::int64_t length_of_segment_;
    std::vector<Kept> kept_;     // of the segment in hand, (step)
    std::vector<State> starts_;  // of the segments before it
    StateHashes<State> hashes_;  // empty unless checked
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
