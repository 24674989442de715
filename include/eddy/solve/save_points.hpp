#pragma once
// The save points of a group's lanes on their way forward: which comes next for each lane, and what
// the state is there. A point at the start or the end of a step has that state; one within is
// interpolated, for all slots of the pack that have one, by the dense output of the method. The
// stages of dense output alone are seen by no error estimate: a point that is not finite is found
// here, and ends its lane.

#include <cmath>
#include <eddy/solve/pack_lanes.hpp>
#include <limits>
#include <vector>

namespace eddy::detail {

/// What ends at a save point, for each slot: a lane whose state there is not finite, or whose
/// recorder makes of it what is not.
template <int pack_slots>
struct BrokenSaves {
    bool is_broken[pack_slots] = {};
    int component[pack_slots];  // of the state that is not finite; -1: what was made of the state
};

/// `Recorder` is told of every save point: save(lane, k, y) answers whether what it makes of y is
/// finite; and of every accepted step where it wants to.
template <class Program, class Recorder>
class SavePoints {
    using Time = typename Program::Time;
    using State = typename Program::State;
    using Stepper = typename Program::Stepper;
    static constexpr int pack_slots = Program::pack_slots;
    static constexpr int num_stages = Attempt<Program>::num_stages;

  public:
    explicit SavePoints(Recorder& recorder) : recorder_(&recorder) {}

    void begin(const LaneInputs<Program>& inputs, std::size_t num_lanes) {
        inputs_ = &inputs;
        num_saved_.assign(num_lanes, 0);
    }

    /// Save points that a lane has reached.
    [[nodiscard]] std::int32_t num_saved(std::int32_t lane) const {
        return num_saved_[index(lane)];
    }
    /// The progress of a seat's next save point; infinite where there is none.
    [[nodiscard]] double next(const Seat& seat) const {
        if (seat.lane == no_lane) return std::numeric_limits<double>::infinity();
        const auto& saves = inputs_->times.saves;
        const std::size_t k = index(num_saved(seat.lane));
        return k < saves.size() ? saves[k] : std::numeric_limits<double>::infinity();
    }
    [[nodiscard]] bool wants_steps() const { return recorder_->wants_steps(); }

    /// A lane sits down.
    void begin_lane(std::int32_t lane, std::ptrdiff_t first_lane) {
        if (wants_steps())
            recorder_->save_step(lane, inputs_->times.t0, inputs_->load_y0(first_lane + lane));
    }

    /// Tells the recorder of what a row from `before` to `x` has passed, up to a save point that
    /// breaks: that one stays the next of its lane.
    BrokenSaves<pack_slots> pass(const PackLanes<Program>& lanes, const PackState<Program>& before,
                                 const Attempt<Program>& attempt, const PackState<Program>& x) {
        State k[Stepper::num_dense_stages]{};
        bool has_stages = false;
        BrokenSaves<pack_slots> broken;
        Round round;
        while (find_pending(lanes, before, attempt, x, broken, round)) {
            State between{};
            if (round.interpolates) {
                const auto dt = lanes.slots.size_of(attempt.h);
                if (!has_stages) dense_stages(lanes, before, attempt, k);
                has_stages = true;
                between = Program::Dense::evaluate(before.y, dt.h, k,
                                                   convert<typename Program::Primal>(round.theta));
            }
            for (int slot = 0; slot < pack_slots; ++slot) {
                const std::int32_t lane = lanes.seats[slot].lane;
                const State* const states[] = {nullptr, &before.y, &x.y, &between};
                const State* const y = states[round.place[slot]];
                if (y == nullptr) continue;
                save(lane, state_of<Program>(*y, slot), slot, broken);
            }
        }
        if (wants_steps()) save_steps(lanes, attempt, x);
        return broken;
    }

  private:
    enum Place : int { nowhere, at_start, at_end, within };
    /// One save point of each slot that has one due.
    struct Round {
        Place place[pack_slots];
        Time theta;  // of those within
        bool interpolates;
    };

    static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

    void save(std::int32_t lane, const typename Program::LaneState& y, int slot,
              BrokenSaves<pack_slots>& broken) {
        int component = 0;
        while (component < Program::state_size && std::isfinite(primal(y[component]))) ++component;
        const bool is_finite = component == Program::state_size;
        if (is_finite && recorder_->save(lane, num_saved(lane), y)) {
            ++num_saved_[index(lane)];
        } else {
            broken.is_broken[slot] = true;
            broken.component[slot] = is_finite ? -1 : component;
        }
    }

    /// False where no slot has any left. The end of a step that is not finite is not reached.
    bool find_pending(const PackLanes<Program>& lanes, const PackState<Program>& before,
                      const Attempt<Program>& attempt, const PackState<Program>& x,
                      const BrokenSaves<pack_slots>& broken, Round& round) const {
        round.theta = Time(0);
        round.interpolates = false;
        bool any_pending = false;
        for (int slot = 0; slot < pack_slots; ++slot) {
            const double at = next(lanes.seats[slot]);
            const double from = get_lane(before.s, slot);
            const double to = get_lane(attempt.stalled, slot) ? from : get_lane(x.s, slot);
            round.place[slot] = !(at <= to) || broken.is_broken[slot] ? nowhere
                                : at <= from                          ? at_start
                                : at == to                            ? at_end
                                                                      : within;
            any_pending = any_pending || round.place[slot] != nowhere;
            if (round.place[slot] != within) continue;
            round.interpolates = true;
            set_lane(round.theta, slot, (at - from) / get_lane(attempt.h, slot));
        }
        return any_pending;
    }

    /// The stages of the attempt, and those that dense output needs besides.
    static void dense_stages(const PackLanes<Program>& lanes, const PackState<Program>& before,
                             const Attempt<Program>& attempt,
                             State (&k)[Stepper::num_dense_stages]) {
        for (int i = 0; i < num_stages; ++i) k[i] = attempt.k[i];
        Stepper::template stages<num_stages, Stepper::num_dense_stages>(
            lanes.slots.times_of(before.s, attempt.h), before.y, lanes.slots.parameters.values(),
            lanes.slots.size_of(attempt.h), k);
    }

    void save_steps(const PackLanes<Program>& lanes, const Attempt<Program>& attempt,
                    const PackState<Program>& x) {
        for (int slot = 0; slot < pack_slots; ++slot) {
            const Seat& seat = lanes.seats[slot];
            if (seat.lane == no_lane || !(get_lane(attempt.used, slot) > 0) ||
                get_lane(attempt.stalled, slot))
                continue;
            const bool lands = get_lane(x.s, slot) == get_lane(lanes.slots.stop, slot);
            recorder_->save_step(
                seat.lane,
                lands ? inputs_->times.stops[index(seat.stop)].t : lanes.time_of(x.s, slot),
                state_of<Program>(x.y, slot));
        }
    }

    Recorder* recorder_;
    const LaneInputs<Program>* inputs_ = nullptr;
    std::vector<std::int32_t> num_saved_;  // (lane)
};

}  // namespace eddy::detail
