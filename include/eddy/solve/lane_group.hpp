#pragma once
// A group of lanes on its way forward: a few packs of slots, taken in turn. A row is one attempt of
// all slots (slot_stepper.hpp); what happens to single lanes — a save point, a stop, the end, a
// failure — is found by one comparison a row and done off the hot path, where a lane that has ended
// makes room for the next. Invariant: nothing that a lane computes depends on its neighbours.

#include <cmath>
#include <eddy/solve/first_step.hpp>
#include <eddy/solve/lane_program.hpp>
#include <eddy/solve/pack_lanes.hpp>
#include <eddy/solve/save_points.hpp>
#include <eddy/solve/seating.hpp>
#include <limits>
#include <span>
#include <vector>

namespace eddy::detail {

/// The lanes [first, first + outcomes.size()) of a call, worked on by one thread. `Recorder` is
/// told of save points: see save_points.hpp.
template <class Program, class Recorder>
class LaneGroup {
    using Scalar = typename Program::Scalar;
    using Time = typename Program::Time;
    using State = typename Program::State;
    using LaneState = typename Program::LaneState;
    using Slots = SlotStepper<Program>;
    static constexpr int pack_slots = Program::pack_slots;
    static constexpr bool is_adaptive = Program::is_adaptive;
    static constexpr double never = std::numeric_limits<double>::infinity();
    // Rows between two looks at whether the call was cancelled.
    static constexpr std::int64_t patience = 256;

  public:
    using Loop = LoopState<Program>;
    static constexpr int num_stages = Slots::num_stages;

    explicit LaneGroup(Recorder& recorder) : saves_(recorder) {}

    /// Takes over the lanes of a group; `outcomes` receives what becomes of them.
    void begin(const LaneInputs<Program>& inputs, std::ptrdiff_t first,
               std::span<LaneOutcome> outcomes) {
        inputs_ = &inputs;
        first_ = first;
        outcomes_ = outcomes;
        next_lane_ = 0;
        FirstStep<Program>::choose(inputs, first, first + num_lanes(), first_sizes_);
        saves_.begin(inputs, outcomes.size());
    }

    /// Seats waiting lanes in all slots, before row 0. A lane that ends makes room for another so
    /// long as the longest lane so far would still end within the limits.
    void seat_all(Loop& x, const RefillLimits& limits) {
        limits_ = limits;
        longest_ = 0;
        num_ended_ = 0;
        total_attempts_ = 0;
        seating.clear();
        num_occupied_ = 0;
        const int waiting = num_lanes() - next_lane_;
        x.num_packs = std::min(Program::max_packs, (waiting + pack_slots - 1) / pack_slots);
        for (int pack = 0; pack < x.num_packs; ++pack) {
            packs_[pack].begin(*inputs_);
            x.pack[pack] = {{}, Time(0), Time(1), {}};
            for (int slot = 0; slot < pack_slots; ++slot) {
                if (has_waiting_lanes()) seat_next(x, pack, slot, -1);
            }
            look_ahead(x, pack, -1);
        }
    }

    /// One row. `used` receives the size of each slot's accepted step, as progress; zero where none
    /// was. An empty slot may seem to move.
    void advance(Loop& x, std::int64_t row, PerPack<Program, Time>& used) {
        used.num_packs = x.num_packs;
        advance_packs(x, row);
        for (int pack = 0; pack < x.num_packs; ++pack) used.pack[pack] = attempts_[pack].used;
    }

    /// All rows until no lane is left, for callers that need none of them again.
    void run(Loop& x) {
        std::int64_t row = 0;
        while (is_running()) {
            if constexpr (!is_adaptive) {
                if (const std::int64_t count = uniform_block(x, row); count > 0) {
                    row += count;
                    continue;
                }
            }
            advance_packs(x, row++);
        }
    }

    /// What a change of seat does to the state of its slot.
    void enter_seat(PackState<Program>& x, int slot, const SeatChange& change) const {
        if (change.to.lane == no_lane) {
            set_lane(x.s, slot, 0.);
            set_lane(x.h, slot, 1.);
        } else if (change.seats_a_lane()) {
            const LaneState y0 = inputs_->load_y0(first_ + change.to.lane);
            for (int i = 0; i < Program::state_size; ++i) set_lane(x.y[i], slot, y0[i]);
            set_lane(x.s, slot, 0.);
            set_lane(x.h, slot, first_sizes_[index(change.to.lane)]);
            reset_history(x.history, slot);
        }
    }
    [[nodiscard]] Seat last_seat(int pack, int slot) const { return packs_[pack].seats[slot]; }
    [[nodiscard]] Slots& slots(int pack) { return packs_[pack].slots; }
    /// Are there lanes that have not been seated?
    [[nodiscard]] bool has_waiting_lanes() const { return next_lane_ < num_lanes(); }
    /// Does any slot have a lane that has not ended?
    [[nodiscard]] bool is_running() const { return num_occupied_ > 0; }
    [[nodiscard]] std::int32_t num_lanes() const {
        return static_cast<std::int32_t>(outcomes_.size());
    }
    /// Lanes that have sat down: those before this one, within the group.
    [[nodiscard]] std::int32_t num_seated() const { return next_lane_; }
    [[nodiscard]] std::ptrdiff_t first_lane() const { return first_; }
    [[nodiscard]] const LaneInputs<Program>& inputs() const { return *inputs_; }
    [[nodiscard]] const LaneOutcome& outcome(std::int32_t lane) const {
        return outcomes_[index(lane)];
    }
    /// Save points that a lane has reached.
    [[nodiscard]] std::int32_t num_saved(std::int32_t lane) const { return saves_.num_saved(lane); }

    Seating seating;

  private:
    static void reset_history(typename Program::History& history, int slot) {
        constexpr ControllerHistory<float> fresh{};
        set_lane(history.previous_log2, slot, fresh.previous_log2);
        set_lane(history.earlier_log2, slot, fresh.earlier_log2);
        set_lane(history.was_rejected, slot, fresh.was_rejected);
    }
    static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

    [[gnu::always_inline]] void advance_packs(Loop& x, std::int64_t row) {
        if constexpr (!is_adaptive) {
            if (uniform_row(x, row)) return;
        }
        for (int pack = 0; pack < x.num_packs; ++pack)
            packs_[pack].slots.compute(x.pack[pack], row, attempts_[pack]);
        for (int pack = 0; pack < x.num_packs; ++pack) judge(x, pack, row);
    }

    [[gnu::always_inline]] void judge(Loop& x, int pack, std::int64_t row) {
        PackLanes<Program>& lanes = packs_[pack];
        Attempt<Program>& attempt = attempts_[pack];
        const PackState<Program> after = lanes.slots.judge(x.pack[pack], row, attempt);
        if constexpr (is_adaptive) {
            lanes.rejected =
                lanes.rejected +
                select((attempt.h > Time(0)) & (attempt.used == Time(0)), Time(1), Time(0));
        }
        if (any((after.s >= lanes.event) | attempt.stalled) || row >= lanes.next_check)
            [[unlikely]] {
            const PackState<Program> before = x.pack[pack];
            x.pack[pack] = after;
            after_row(before, attempt, x, pack, row);
        } else {
            x.pack[pack] = after;
        }
    }

    /// A row of constant size, if all packs are far from any event and stay finite.
    [[gnu::always_inline]] bool uniform_row(Loop& x, std::int64_t row) {
        for (int pack = 0; pack < x.num_packs; ++pack) {
            if (row >= packs_[pack].uniform_until) return false;
        }
        State y[Program::max_packs];
        bool broken = false;
        for (int pack = 0; pack < x.num_packs; ++pack) {
            y[pack] = packs_[pack].slots.uniform_step(x.pack[pack].s, x.pack[pack].y);
            broken = broken || packs_[pack].is_broken(y[pack]);
        }
        if (broken) return false;  // take the row with care
        for (int pack = 0; pack < x.num_packs; ++pack) {
            const Slots& slots = packs_[pack].slots;
            x.pack[pack].y = y[pack];
            x.pack[pack].s = slots.after_steps(slots.steps_at(x.pack[pack].s) + Time(1));
            attempts_[pack].used = Time(inputs_->times.dt0);
        }
        return true;
    }

    /// As many rows of constant size as are far from any event, and their number; none where one of
    /// them would not be finite.
    [[gnu::noinline]] std::int64_t uniform_block(Loop& x, std::int64_t row) {
        std::int64_t count = patience;
        for (int pack = 0; pack < x.num_packs; ++pack)
            count = std::min(count, packs_[pack].uniform_until - row);
        if (count <= 0) return 0;
        const Loop before = x;
        Time first[Program::max_packs]{};
        for (int pack = 0; pack < x.num_packs; ++pack)
            first[pack] = packs_[pack].slots.steps_at(x.pack[pack].s);
        for (std::int64_t done = 0; done < count; ++done) {
            const Time steps(static_cast<double>(done));
            for (int pack = 0; pack < x.num_packs; ++pack) {
                const Slots& slots = packs_[pack].slots;
                x.pack[pack].y =
                    slots.uniform_step(slots.after_steps(first[pack] + steps), x.pack[pack].y);
            }
        }
        bool broken = false;
        for (int pack = 0; pack < x.num_packs; ++pack) {
            x.pack[pack].s =
                packs_[pack].slots.after_steps(first[pack] + Time(static_cast<double>(count)));
            broken = broken || packs_[pack].is_broken(x.pack[pack].y);
        }
        if (!broken) return count;
        x = before;
        for (int pack = 0; pack < x.num_packs; ++pack) packs_[pack].uniform_until = 0;
        return 0;
    }

    [[gnu::noinline]] void after_row(const PackState<Program>& before,
                                     const Attempt<Program>& attempt, Loop& group, int pack,
                                     std::int64_t row) {
        PackLanes<Program>& lanes = packs_[pack];
        PackState<Program>& x = group.pack[pack];
        const auto broken = saves_.pass(lanes, before, attempt, x);
        inputs_->look_up();
        const bool cancelled = inputs_->cancelled.stop_requested();
        for (int slot = 0; slot < pack_slots; ++slot) {
            if (lanes.seats[slot].lane == no_lane) continue;
            const double s = get_lane(x.s, slot);
            const bool lands = s == get_lane(lanes.slots.stop, slot);
            if (broken.is_broken[slot]) {
                fail_at_save(lanes, broken, slot, row);
            } else if (get_lane(attempt.stalled, slot)) {
                fail(lanes, before, attempt, slot, row);
            } else if (lands && heads_for_the_end(lanes.seats[slot])) {
                finish(lanes, slot, row, {Result::success, inputs_->times.stops.back().t});
            } else if (cancelled) {
                finish(lanes, slot, row, {Result::cancelled, lanes.time_of(x.s, slot)});
            } else if (row - lanes.first_row[slot] + 1 >= inputs_->times.max_steps) {
                finish(lanes, slot, row, {Result::max_steps_reached, lanes.time_of(x.s, slot)});
            } else {
                if (lands) head_for_next_stop(group, pack, slot, row);
                continue;
            }
            if (!cancelled && has_waiting_lanes() && refills(row)) {
                seat_next(group, pack, slot, row);
            } else {
                change_seat(group, pack, slot, row, {});
            }
        }
        look_ahead(group, pack, row);
    }

    /// Is there room for another lane after this row?
    [[nodiscard]] bool refills(std::int64_t row) const {
        std::int64_t longest = longest_;
        for (const PackLanes<Program>& lanes : packs_) {
            for (int slot = 0; slot < pack_slots; ++slot) {
                if (lanes.seats[slot].lane != no_lane)
                    longest = std::max(longest, row + 1 - lanes.first_row[slot]);
            }
        }
        // Eight times the longest lane: what slots lose at the end is then a tenth.
        const bool uneven = static_cast<double>(total_attempts_) <
                            0.6 * static_cast<double>(longest) * static_cast<double>(num_ended_);
        const std::int64_t last =
            uneven ? std::max(limits_.near, std::min(limits_.far, 8 * longest)) : limits_.near;
        return row < last - longest;
    }

    /// A lane that cannot go on.
    void fail(PackLanes<Program>& lanes, const PackState<Program>& before,
              const Attempt<Program>& attempt, int slot, std::int64_t row) {
        int worst = 0;
        bool finite = true;
        Scalar largest(-1);
        for (int i = 0; i < Program::state_size && finite; ++i) {
            Scalar size = get_lane(primal(attempt.next[i]), slot);
            if constexpr (is_adaptive)
                size = get_lane(lanes.slots.ratio(before.y, attempt, i), slot);
            finite = std::isfinite(size);
            if (finite && std::abs(size) <= largest) continue;
            largest = std::abs(size);
            worst = i;
        }
        finish(lanes, slot, row,
               {finite ? Result::dt_underflow : Result::non_finite, lanes.time_of(before.s, slot),
                worst, !is_adaptive});
    }
    /// A lane whose step was good but whose save point is not.
    void fail_at_save(PackLanes<Program>& lanes, const BrokenSaves<pack_slots>& broken, int slot,
                      std::int64_t row) {
        const std::int32_t k = saves_.num_saved(lanes.seats[slot].lane);
        finish(lanes, slot, row,
               {Result::non_finite, inputs_->times.save_time[index(k)], broken.component[slot]});
    }

    /// How a lane ends, and whether the step that it ends with was neither accepted nor rejected.
    struct Ending {
        Result result;
        double t;
        int component = -1;
        bool breaks_step = false;
    };
    void finish(PackLanes<Program>& lanes, int slot, std::int64_t row, const Ending& ending) {
        const std::int64_t attempts = row - lanes.first_row[slot] + 1;
        const auto rejected = static_cast<std::int64_t>(get_lane(lanes.rejected, slot));
        const bool moved = inputs_->times.span > 0;
        outcomes_[index(lanes.seats[slot].lane)] = {
            .result = ending.result,
            .accepted = moved ? attempts - rejected - (ending.breaks_step ? 1 : 0) : 0,
            .rejected = rejected,
            .evaluations = attempts * Slots::evaluations_per_attempt + Slots::evaluations_at_start +
                           (inputs_->times.dt0 == 0 ? 2 : 0),
            .t = ending.t,
            .component = ending.component};
        const LaneOutcome& outcome = outcomes_[index(lanes.seats[slot].lane)];
        if (inputs_->progress) {  // a cancelled lane is not done, but its steps were made
            inputs_->progress->add(ending.result == Result::cancelled ? 0 : 1, outcome.accepted,
                                   outcome.rejected);
        }
        ++num_ended_;
        total_attempts_ += attempts;
        longest_ = std::max(longest_, attempts);
        --num_occupied_;
    }

    [[nodiscard]] bool heads_for_the_end(const Seat& seat) const {
        return index(seat.stop) + 1 == inputs_->times.stops.size();
    }
    /// A slot whose lane has landed goes on.
    void head_for_next_stop(Loop& x, int pack, int slot, std::int64_t row) {
        const Seat seat = packs_[pack].seats[slot];
        change_seat(x, pack, slot, row, {seat.lane, seat.stop + 1});
    }
    void seat_next(Loop& x, int pack, int slot, std::int64_t row) {
        const std::int32_t lane = next_lane_++;
        ++num_occupied_;
        packs_[pack].first_row[slot] = row + 1;
        set_lane(packs_[pack].rejected, slot, 0.);
        packs_[pack].slots.parameters.seat(*inputs_, slot, first_ + lane);
        saves_.begin_lane(lane, first_);
        change_seat(x, pack, slot, row, {lane, 0});
    }
    void change_seat(Loop& x, int pack, int slot, std::int64_t row, Seat to) {
        PackLanes<Program>& lanes = packs_[pack];
        const SeatChange change{row, pack * pack_slots + slot, lanes.seats[slot], to};
        seating.record(change);
        enter_seat(x.pack[pack], slot, change);
        lanes.seats[slot] = to;
        lanes.slots.head_for(slot, to.lane == no_lane ? -1 : to.stop);
        set_lane(lanes.occupied, slot, to.lane != no_lane);
    }

    /// Finds out when something happens next: in progress of each slot, and in rows.
    void look_ahead(const Loop& x, int pack, std::int64_t row) {
        const TimePlan& times = inputs_->times;
        PackLanes<Program>& lanes = packs_[pack];
        // While other threads may be called in, soon at first, then ever more rarely.
        const std::int64_t wait =
            inputs_->look_up.is_wanted() ? std::min(patience, row + 8) : patience;
        lanes.next_check = row + (saves_.wants_steps() ? 1 : wait);
        double nearest = never;
        for (int slot = 0; slot < pack_slots; ++slot) {
            const std::int32_t lane = lanes.seats[slot].lane;
            double event = never;
            if (lane != no_lane) {
                event = get_lane(lanes.slots.stop, slot);
                event = std::min(event, saves_.next(lanes.seats[slot]));
                lanes.next_check =
                    std::min(lanes.next_check, lanes.first_row[slot] + times.max_steps - 1);
                nearest = std::min(nearest, event - get_lane(x.pack[pack].s, slot));
            }
            set_lane(lanes.event, slot, event);
        }
        if constexpr (!is_adaptive) {
            const double rows = std::min(nearest / times.dt0 - 1.5, 1e15);
            lanes.uniform_until = std::min(
                lanes.next_check, row + 1 + (rows >= 1 ? static_cast<std::int64_t>(rows) : 0));
        }
    }

    SavePoints<Program, Recorder> saves_;
    const LaneInputs<Program>* inputs_ = nullptr;
    std::ptrdiff_t first_ = 0;
    std::span<LaneOutcome> outcomes_;
    std::vector<double> first_sizes_;  // (lane)
    std::int32_t next_lane_ = 0;
    int num_occupied_ = 0;
    PackLanes<Program> packs_[Program::max_packs];
    Attempt<Program> attempts_[Program::max_packs];
    RefillLimits limits_;
    std::int64_t num_ended_ = 0, total_attempts_ = 0;  // of lanes that have ended
    std::int64_t longest_ = 0;  // attempts of the longest lane that has ended
};

}  // namespace eddy::detail
