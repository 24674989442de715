#pragma once
// A group of lanes forward and back: the checkpointed loop over its rows. Forward, a row is an
// attempt of every slot, and the sizes of accepted steps are logged; back, a row is taken again
// from the log, without attempts or error estimates, and pulled back. Where the log would not fit,
// a replay repeats the attempts from the controller's state in the checkpoint. On the way back a
// slot receives the cotangents of a lane's save points as its rows pass them, and hands out the
// lane's gradient when the row is reached at which the lane sat down. Where the call is cancelled
// the way back ends as well: lanes whose gradient was handed out keep it, the others are cancelled.

#include <algorithm>
#include <cmath>
#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/solve/group_back.hpp>
#include <eddy/solve/lane_group.hpp>
#include <eddy/solve/row_store.hpp>
#include <optional>
#include <vector>

namespace eddy::detail {

/// Adds what one loop did to what others did.
inline void add(LoopCounters& total, const LoopCounters& loop) {
    total.advances += loop.advances;
    total.recomputed += loop.recomputed;
    total.pullbacks += loop.pullbacks;
    total.stores += loop.stores;
    total.loads += loop.loads;
    total.peak_checkpoints = std::max(total.peak_checkpoints, loop.peak_checkpoints);
}

/// What the way back of some groups cost.
struct BackCost {
    LoopCounters loops;
    std::int64_t evaluations = 0;  // of f, by lanes
};

/// How much a group may keep.
struct GroupMemory {
    std::int64_t checkpoints = 1;
    std::int64_t logged_rows = 0;
    RefillLimits refill;

    friend bool operator==(const GroupMemory&, const GroupMemory&) = default;
};

/// `Recorder` receives states and loss on the way forward, gives the cotangents of save points on
/// the way back, and takes the gradients: see gradient_recorder.hpp.
template <class Program, class Recorder, bool with_times>
class GradientGroup {
    using Primal = typename Program::Primal;
    using Time = typename Program::Time;
    using State = typename Program::State;
    using Stepper = typename Program::Stepper;
    using Group = LaneGroup<Program, Recorder>;
    using Loop = LoopState<Program>;
    using Cotangents = PerPack<Program, State>;

    struct Body {
        GradientGroup* group;

        Loop advance(const Loop& x, std::int64_t row) const {
            Loop next = x;
            advance_in_place(next, row);
            return next;
        }
        void advance_in_place(Loop& x, std::int64_t row) const { group->advance(x, row); }
        Cotangents pullback(const Loop& x, std::int64_t row, const Cotangents& cotangents) const {
            return group->pull_back(x, row, cotangents);
        }
    };
    using RowLoop = CheckpointedLoop<Loop, Body, RowStore<Program>, Cotangents>;

  public:
    explicit GradientGroup(Recorder& recorder)
        : recorder_(&recorder), group_(recorder), back_(group_, recorder) {}
    GradientGroup(const GradientGroup&) = delete;
    GradientGroup& operator=(const GradientGroup&) = delete;

    /// Bytes that a row costs when its state is kept, and the part of the log among them.
    static constexpr std::int64_t bytes_per_checkpoint = RowStore<Program>::bytes_per_slot + 40;
    static constexpr std::int64_t bytes_per_logged_row = sizeof(Time) * Program::max_packs;

    /// The gradients of lanes [first, first + outcomes.size()), in rounds where they do not all
    /// fit. Returns how many of them sat down: all, unless the call was cancelled. Lanes that sat
    /// down and have no gradient then are cancelled here.
    std::int32_t run(const LaneInputs<Program>& inputs, std::ptrdiff_t first,
                     std::span<LaneOutcome> outcomes, const GroupMemory& memory, BackCost& cost) {
        if (!loop_ || memory_ != memory)
            loop_.emplace(Body{this}, LoopOptions{.checkpoints = memory.checkpoints},
                          RowStore<Program>(memory.logged_rows));
        memory_ = memory;
        group_.begin(inputs, first, outcomes);
        back_.clear_sums();
        while (group_.has_waiting_lanes() && !is_cancelled()) {
            const std::int32_t first_of_round = group_.num_seated();
            forward();
            const bool is_complete = back();
            add(cost.loops, loop_->counters());
            cost.evaluations += evaluations_back(outcomes, first_of_round);
            // Sums that lanes do not hand out hold parts of all of them: none has its own.
            if (!is_complete) drop_lanes(Program::sums_by_lane ? first_of_round : 0, outcomes);
            if constexpr (Recorder::has_report) end_infinite(first_of_round, outcomes);
        }
        if constexpr (!Program::sums_by_lane) {
            for (const auto& sums : back_.sums()) recorder_->add_sums(sums);
        }
        recorder_->finish();
        return group_.num_seated();
    }

    /// Memory for states and logs.
    [[nodiscard]] std::int64_t num_bytes() {
        const auto log_bytes = static_cast<std::int64_t>(log_.capacity() * sizeof(Time));
        return log_bytes + (loop_ ? loop_->store().num_bytes() : 0);
    }

  private:
    /// Evaluations of f on the way back of the lanes from `first`: the stages of a row once to pull
    /// it back, and once for each time that it was taken again. Counts of rows are those of the
    /// group; how many lanes sat in those taken again is taken from the mean.
    [[nodiscard]] std::int64_t evaluations_back(std::span<const LaneOutcome> outcomes,
                                                std::int32_t first) {
        const LoopCounters& rows = loop_->counters();
        if (rows.pullbacks == 0) return 0;
        std::int64_t attempts = 0;
        for (std::int32_t lane = first; lane < group_.num_seated(); ++lane)
            attempts += outcomes[index(lane)].accepted + outcomes[index(lane)].rejected;
        const auto pulled = static_cast<double>(rows.pullbacks);
        const auto taken = static_cast<double>(rows.pullbacks + rows.recomputed);
        return std::llround(static_cast<double>(attempts * Stepper::num_stages) * (taken / pulled));
    }

    /// Thrown on the way back where the call is cancelled; the loop frees its slots.
    struct Cancelled {};

    static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
    [[nodiscard]] bool is_cancelled() const { return group_.inputs().cancelled.stop_requested(); }

    void forward() {
        Loop x;
        group_.seat_all(x, memory_.refill);
        num_packs_ = x.num_packs;
        is_back_ = false;
        log_.clear();
        loop_->run(x, [this](const Loop&, std::int64_t) { return group_.is_running(); });
    }

    /// False where the call was cancelled before all gradients were handed out.
    [[nodiscard]] bool back() {
        is_back_ = true;
        back_.begin(num_packs_);
        Cotangents cotangents;
        cotangents.num_packs = num_packs_;
        for (int pack = 0; pack < num_packs_; ++pack) cotangents.pack[pack] = State{};
        try {
            look_for_cancellation();
            static_cast<void>(loop_->reverse(cotangents));
        } catch (const Cancelled&) {
            return false;
        }
        return true;
    }
    void look_for_cancellation() const {
        if (is_cancelled()) [[unlikely]]
            throw Cancelled{};
    }

    /// Lanes from `first` on that sat down and have handed out no gradient.
    void drop_lanes(std::int32_t first, std::span<LaneOutcome> outcomes) {
        for (std::int32_t lane = first; lane < group_.num_seated(); ++lane) {
            if (Program::sums_by_lane && back_.has_handed_out(lane)) continue;
            recorder_->forget(lane);
            Result& result = outcomes[index(lane)].result;
            if (!is_failure(result)) result = Result::cancelled;
        }
        if constexpr (!Program::sums_by_lane) {
            back_.clear_sums();
            recorder_->forget_sums();
        }
    }

    /// A derivative may be infinite where all values are numbers, as that of √y at 0: such a lane
    /// fails after all, so that it spoils no sum and none takes its gradient for one.
    void end_infinite(std::int32_t first, std::span<LaneOutcome> outcomes) {
        for (std::int32_t lane = first; lane < group_.num_seated(); ++lane) {
            LaneOutcome& outcome = outcomes[index(lane)];
            if (is_failure(outcome.result) || recorder_->has_finite_gradient(lane)) continue;
            recorder_->forget(lane);
            outcome.result = Result::non_finite;
        }
    }

    void advance(Loop& x, std::int64_t row) {
        if (is_back_) {
            take_again(x, row);
            return;
        }
        if (row == memory_.logged_rows) at_log_end_ = x;
        PerPack<Program, Time> used{};
        group_.advance(x, row, used);
        if (row < memory_.logged_rows) log(used);
    }

    void log(const PerPack<Program, Time>& used) {
        for (int pack = 0; pack < num_packs_; ++pack) log_.push_back(used.pack[pack]);
    }

    /// Seats all slots as they were at a row.
    void seek(std::int64_t row) {
        group_.seating.seek(row,
                            [this](int slot, const Seat& seat) { back_.set_seat(slot, seat); });
    }

    /// A row of the way forward, once more: bit for bit what it was.
    void take_again(Loop& x, std::int64_t row) {
        look_for_cancellation();
        seek(row);
        if (row == memory_.logged_rows) x = at_log_end_;
        for (int pack = 0; pack < num_packs_; ++pack) {
            if (row < memory_.logged_rows) {
                step_again(x.pack[pack], pack, logged(row, pack));
            } else {
                static_cast<void>(repeat(x.pack[pack], pack, row));
            }
        }
        group_.seating.visit_after_cursor(row, [&](const SeatChange& change) {
            group_.enter_seat(x.pack[change.slot / Program::pack_slots],
                              change.slot % Program::pack_slots, change);
        });
    }

    [[nodiscard]] const Time& logged(std::int64_t row, int pack) const {
        return log_[index(row * num_packs_ + pack)];
    }

    [[gnu::always_inline]] void step_again(PackState<Program>& x, int pack, const Time& h) {
        auto& slots = group_.slots(pack);
        if (slots.is_uniform(h)) {
            x.y = slots.uniform_step(x.s, x.y);
            x.s = slots.progress_after(x.s, h);
            return;
        }
        const State next =
            Stepper::step(slots.times_of(x.s, h), x.y, slots.parameters.values(), slots.size_of(h));
        const auto moves = convert<Primal>(h) != Primal(0);
        for_components<Program::state_size>([&](int i) __attribute__((always_inline)) {
            x.y[i] = select(moves, next[i], x.y[i]);
        });
        x.s = select(h != Time(0), slots.progress_after(x.s, h), x.s);
    }

    Cotangents pull_back(const Loop& x, std::int64_t row, const Cotangents& cotangents) {
        look_for_cancellation();
        seek(row);
        Cotangents result;
        result.num_packs = num_packs_;
        Time used[Program::max_packs];
        for (int pack = 0; pack < num_packs_; ++pack) {
            used[pack] = used_at(x, row, pack);
            back_.compute_stages(x.pack[pack], pack, used[pack]);
        }
        for (int pack = 0; pack < num_packs_; ++pack)
            result.pack[pack] =
                back_.pull_pack(x.pack[pack], pack, used[pack], cotangents.pack[pack]);
        group_.seating.visit_before_cursor(row - 1, [&](const SeatChange& change) {
            if constexpr (with_times) back_.settle_start(change);
            if (change.seats_a_lane()) {
                const int pack = change.slot / Program::pack_slots;
                back_.hand_out(result.pack[pack], pack, change);
            }
        });
        return result;
    }

    [[nodiscard]] Time used_at(const Loop& x, std::int64_t row, int pack) {
        if (row < memory_.logged_rows) return logged(row, pack);
        // Replayed from the log, x has no controllers where the log ends.
        PackState<Program> copy =
            row == memory_.logged_rows ? at_log_end_.pack[pack] : x.pack[pack];
        return repeat(copy, pack, row);
    }
    /// An attempt once more, for callers that have no log. Returns the sizes of accepted steps.
    Time repeat(PackState<Program>& x, int pack, std::int64_t row) {
        auto& slots = group_.slots(pack);
        Attempt<Program> attempt;
        slots.compute(x, row, attempt);
        x = slots.judge(x, row, attempt);
        return attempt.used;
    }

    Recorder* recorder_;
    Group group_;
    GroupBack<Program, Recorder, with_times> back_;
    std::optional<RowLoop> loop_;
    GroupMemory memory_;
    int num_packs_ = 0;
    bool is_back_ = false;
    Loop at_log_end_;        // for the controllers there
    std::vector<Time> log_;  // (row, pack) sizes of accepted steps, zero where none was
};

}  // namespace eddy::detail
