#pragma once
// The way back of a group's rows: the adjoint of a step for the lanes that made it, the cotangents
// of save points as rows pass them, and the gradient of a lane at the row where it sat down. What a
// lane that failed or did not move would bring is left out by masks, whatever its values.

#include <cstdint>
#include <eddy/solve/lane_group.hpp>
#include <vector>

namespace eddy::detail {

/// A sum that lanes which do not take part leave alone, whatever their values.
template <class Number, class SumMask, int size>
struct MaskedSum {
    Vec<Number, size>& sum;
    const SumMask& mask;

    [[gnu::always_inline]] void add(int i, const Number& value) const {
        sum[i] = select(mask, sum[i] + value, sum[i]);
    }
};

/// `Recorder` gives the cotangents of save points and takes the gradients: see
/// gradient_recorder.hpp.
template <class Program, class Recorder, bool with_times>
class GroupBack {
    using Number = typename Program::Number;
    using Primal = typename Program::Primal;
    using Time = typename Program::Time;
    using State = typename Program::State;
    using LaneState = typename Program::LaneState;
    using Stepper = typename Program::Stepper;
    using Dense = typename Program::Dense;
    using Group = LaneGroup<Program, Recorder>;
    using Sums = Vec<Number, Program::parameter_room>;
    using TimeMask = MaskOf<Time>;
    using Times = std::conditional_t<with_times, TimeCotangents<Number>, NoTimeCotangents>;
    static constexpr int pack_slots = Program::pack_slots;
    static constexpr int num_dense_stages = Stepper::num_dense_stages;

  public:
    GroupBack(Group& group, Recorder& recorder) : group_(&group), recorder_(&recorder) {}

    /// Forgets the sums of the parameters.
    void clear_sums() { sums_.assign(Program::max_packs, Sums{}); }
    /// (pack) what the slots of each pack have brought to the cotangents of the parameters, where
    /// lanes do not hand them out.
    [[nodiscard]] const std::vector<Sums>& sums() const { return sums_; }

    /// Begins at the end of a run, with the seats that it left.
    void begin(int num_packs) {
        saves_left_.resize(index(group_->num_lanes()));
        for (std::int32_t lane = 0; lane < group_->num_lanes(); ++lane)
            saves_left_[index(lane)] = group_->num_saved(lane);
        for (int pack = 0; pack < num_packs; ++pack) {
            packs_[pack] = {};
            for (int slot = 0; slot < pack_slots; ++slot)
                set_seat(pack * pack_slots + slot, group_->last_seat(pack, slot));
        }
    }

    /// A slot, counted through all packs, has another lane or heads for another stop.
    void set_seat(int global_slot, const Seat& seat) {
        const int pack = global_slot / pack_slots, slot = global_slot % pack_slots;
        PackBack& lanes = packs_[pack];
        lanes.seats[slot] = seat;
        auto& slots = group_->slots(pack);
        const bool seated = seat.lane != no_lane;
        const bool alive = seated && !is_failure(group_->outcome(seat.lane).result);
        if (seated) slots.parameters.seat(group_->inputs(), slot, group_->first_lane() + seat.lane);
        slots.head_for(slot, seated ? seat.stop : -1);
        set_lane(lanes.alive, slot, alive);
        set_lane(lanes.pending, slot, alive ? pending_of(seat.lane) : -1.);
    }
    [[nodiscard]] double pending_of(std::int32_t lane) const {
        const std::int32_t left = saves_left_[index(lane)];
        return left > 0 ? group_->inputs().times.saves[index(left - 1)] : -1;
    }

    /// The stages of a row of step sizes h, for `pull_pack`: first of all packs, then pull them
    /// back.
    [[gnu::always_inline]] void compute_stages(const PackState<Program>& x, int pack,
                                               const Time& h) {
        PackBack& lanes = packs_[pack];
        const auto& slots = group_->slots(pack);
        const auto compute = [&](const auto& dt) __attribute__((always_inline)) {
            State k[Stepper::num_stages];
            State stage[Stepper::num_stages];
            Stepper::stage_states(slots.times_of(x.s, h), x.y, slots.parameters.values(), dt, k,
                                  stage);
            static_for<0, Stepper::num_stages>([&]<int i>() __attribute__((always_inline)) {
                lanes.stage[i] = stage[i];
                if constexpr (with_times) lanes.k[i] = k[i];
            });
        };
        if (slots.is_uniform(h))
            compute(slots.uniform_size());
        else
            compute(slots.size_of(h));
    }

    /// The cotangent of the state before a row of step sizes h from that after it.
    [[gnu::always_inline]] State pull_pack(const PackState<Program>& x, int pack, const Time& h,
                                           const State& next_cotangent) {
        PackBack& lanes = packs_[pack];
        auto& slots = group_->slots(pack);
        const TimeMask moves = lanes.alive & (h != Time(0));
        if (any((lanes.pending > x.s) & moves)) [[unlikely]]
            return pull_pack_with_saves(x, pack, h, next_cotangent);
        Times times = no_times();
        const auto pull = [&](const auto& dt) __attribute__((always_inline)) {
            return pull_step(
                pack, h, next_cotangent, [&](auto& sums) __attribute__((always_inline)) {
                    return Stepper::pull_stages(slots.times_of(x.s, h), slots.parameters.values(),
                                                dt, lanes.k, lanes.stage, next_cotangent,
                                                NoStageCotangents{}, sums, times);
                });
        };
        const State pulled =
            slots.is_uniform(h) ? pull(slots.uniform_size()) : pull(slots.size_of(h));
        if constexpr (with_times) settle_step(x, pack, h, times);
        return pulled;
    }

    /// Steps head for another stop from here on: what they bring by shifting belongs to the one
    /// before.
    void settle_start(const SeatChange& change) {
        const int pack = change.slot / pack_slots, slot = change.slot % pack_slots;
        if (change.to.lane == no_lane) return;
        Number& sum = packs_[pack].t_cotangent;
        if (get_lane(packs_[pack].alive, slot))
            recorder_->add_stop(change.to.lane, change.to.stop, get_lane(sum, slot));
        set_lane(sum, slot, typename Program::Lane(0));
    }

    /// Since `begin`.
    [[nodiscard]] bool has_handed_out(std::int32_t lane) const {
        return saves_left_[index(lane)] == handed_out;
    }
    /// A lane sat down here: what its slot holds is its gradient.
    void hand_out(State& cotangent, int pack, const SeatChange& change) {
        const int slot = change.slot % pack_slots;
        const std::int32_t lane = change.to.lane;
        const bool alive = get_lane(packs_[pack].alive, slot);
        LaneState y_cotangent{};
        for (int i = 0; i < Program::state_size; ++i) {
            y_cotangent[i] = get_lane(cotangent[i], slot);
            set_lane(cotangent[i], slot, typename Program::Lane(0));
        }
        while (alive && saves_left_[index(lane)] > 0) {  // at the start itself
            State seed{};
            const std::int32_t k = take_save(pack, slot, seed);
            for (int i = 0; i < Program::state_size; ++i)
                y_cotangent[i] = y_cotangent[i] + get_lane(seed[i], slot);
            if constexpr (with_times)
                recorder_->add_start_save(lane, k, state_of<Program>(seed, slot));
        }
        if (alive) recorder_->add_y0(lane, y_cotangent);
        if constexpr (Program::sums_by_lane) {
            Sums& sums = sums_[index(pack)];
            for (int i = 0; i < Program::parameter_size; ++i) {
                if (alive) recorder_->add_p(lane, i, get_lane(sums[i], slot));
                set_lane(sums[i], slot, typename Program::Lane(0));
            }
        }
        saves_left_[index(lane)] = handed_out;
    }

  private:
    static constexpr std::int32_t handed_out = -1;
    /// Cotangents of save points within a step.
    struct Seeds {
        bool within = false;  // any, apart from those of the step's end
        State y{};
        State k[num_dense_stages]{};
        Times times = no_times();
    };
    [[nodiscard, gnu::always_inline]] static Times no_times() {
        if constexpr (with_times)
            return {convert<Number>(0), convert<Number>(0)};
        else
            return {};
    }

    /// The step's adjoint, for the lanes that moved.
    template <class Adjoint>
    [[gnu::always_inline]] State pull_step(int pack, const Time& h, const State& next_cotangent,
                                           Adjoint adjoint) {
        const auto moves = convert<Primal>(select(packs_[pack].alive, h, Time(0))) != Primal(0);
        Sums& sums = sums_[index(pack)];
        State pulled;
        if constexpr (Program::parameter_size <= longest_unrolled) {
            Sums of_step{};  // in registers
            pulled = adjoint(of_step);
            for_components<Program::parameter_room>([&](int i) __attribute__((always_inline)) {
                sums[i] = select(moves, sums[i] + of_step[i], sums[i]);
            });
        } else {
            MaskedSum<Number, MaskOf<Primal>, Program::parameter_room> sum{sums, moves};
            pulled = adjoint(sum);
        }
        for_components<Program::state_size>([&](int i) __attribute__((always_inline)) {
            pulled[i] = select(moves, pulled[i], next_cotangent[i]);
        });
        return pulled;
    }

    /// A row within which, or at whose end, some lane has save points.
    [[gnu::noinline]] State pull_pack_with_saves(const PackState<Program>& x, int pack,
                                                 const Time& h, State cotangent) {
        const auto dt = group_->slots(pack).size_of(h);
        Seeds seeds;
        collect_seeds(x, pack, h, cotangent, seeds);
        const auto pull = [&](const auto& own) {
            const auto& slots = group_->slots(pack);
            return pull_step(pack, h, cotangent, [&](auto& sums) {
                return Stepper::pullback(slots.times_of(x.s, h), x.y, slots.parameters.values(), dt,
                                         cotangent, own, sums, seeds.times);
            });
        };
        State pulled;
        if (seeds.within) {
            pulled = pull(seeds.k);
            for (int i = 0; i < Program::state_size; ++i) pulled[i] = pulled[i] + seeds.y[i];
        } else {
            pulled = pull(NoStageCotangents{});
        }
        if constexpr (with_times) settle_step(x, pack, h, seeds.times);
        return pulled;
    }

    /// Takes the save points of this row, the last ones first: those at its end go to the cotangent
    /// of the state there, those within to y and the stages.
    void collect_seeds(const PackState<Program>& x, int pack, const Time& h, State& cotangent,
                       Seeds& seeds) {
        PackBack& lanes = packs_[pack];
        const auto dt = group_->slots(pack).size_of(h);
        const Time end = group_->slots(pack).progress_after(x.s, h);
        for (;;) {
            const TimeMask due = (lanes.pending > x.s) & lanes.alive & (h != Time(0));
            if (!any(due)) return;
            Time theta(0);
            State seed{};  // of this round
            bool within[pack_slots] = {};
            std::int32_t taken[pack_slots];
            for (int slot = 0; slot < pack_slots; ++slot) {
                taken[slot] = -1;
                if (!get_lane(due, slot)) continue;
                const double at = get_lane(lanes.pending, slot);
                within[slot] = at != get_lane(end, slot);
                set_lane(theta, slot,
                         within[slot] ? (at - get_lane(x.s, slot)) / get_lane(h, slot) : 1.);
                taken[slot] = take_save(pack, slot, seed);
            }
            if constexpr (with_times) settle_saves(x, pack, dt, theta, seed, taken, within, seeds);
            for (int slot = 0; slot < pack_slots; ++slot) {
                seeds.within = seeds.within || within[slot];
                if (within[slot] || taken[slot] < 0) continue;
                for (int i = 0; i < Program::state_size; ++i) {
                    set_lane(cotangent[i], slot,
                             get_lane(cotangent[i], slot) + get_lane(seed[i], slot));
                    set_lane(seed[i], slot, typename Program::Lane(0));
                }
            }
            Dense::pullback(dt.h, convert<Primal>(theta), seed, seeds.y, seeds.k);
        }
    }

    /// Puts the cotangent of a lane's last save point not yet passed into its slot of `seed`,
    /// passes the point and returns its number.
    std::int32_t take_save(int pack, int slot, State& seed) {
        const std::int32_t lane = packs_[pack].seats[slot].lane;
        const std::int32_t k = --saves_left_[index(lane)];
        const LaneState of_lane = recorder_->pull_save(lane, k);
        for (int i = 0; i < Program::state_size; ++i) set_lane(seed[i], slot, of_lane[i]);
        set_lane(packs_[pack].pending, slot, pending_of(lane));
        return k;
    }

    // Derivatives with respect to times, where they are asked for. A lane's step sizes are data but
    // for those that land: dt = stop − t. With b_0 = t0 and b_j the j-th stop, a landing at b_{j+1}
    // brings its dt cotangent to b_{j+1} and takes it from b_j, and b_j shifts all steps up to the
    // next stop. A save point shifts along the interpolant's slope, and one at a stop takes that
    // from the stop.

    void settle_step(const PackState<Program>& x, int pack, const Time& h,
                     const TimeCotangents<Number>& times) {
        PackBack& lanes = packs_[pack];
        const TimeMask moves = lanes.alive & (h != Time(0));
        const TimeMask lands = moves & (h == group_->slots(pack).stop - x.s);
        for (int slot = 0; slot < pack_slots; ++slot) {
            if (!get_lane(moves, slot)) continue;
            set_lane(lanes.t_cotangent, slot,
                     get_lane(lanes.t_cotangent, slot) + get_lane(times.t, slot));
            if (!get_lane(lands, slot)) continue;
            const Seat& seat = lanes.seats[slot];
            recorder_->add_stop(seat.lane, seat.stop + 1, get_lane(times.dt, slot));
            recorder_->add_stop(seat.lane, seat.stop, -get_lane(times.dt, slot));
        }
    }

    /// Save points of a row at θ: each moves along its slope, and shifts against the step.
    template <class Size>
    void settle_saves(const PackState<Program>& x, int pack, const Size& dt, const Time& theta,
                      const State& seed, const std::int32_t (&taken)[pack_slots],
                      const bool (&within)[pack_slots], Seeds& seeds) {
        const PackBack& lanes = packs_[pack];
        auto& slots = group_->slots(pack);
        State k[num_dense_stages];
        Stepper::template stages<0, num_dense_stages>(slots.times_of(x.s, dt.dt), x.y,
                                                      slots.parameters.values(), dt, k);
        const Primal fraction = convert<Primal>(theta);
        const State slope = Dense::slope(k, fraction);
        const Number along = dot(seed, slope);
        const Number moved = dot(seed, Dense::evaluate(x.y, dt.h, k, fraction) - x.y);
        for (int slot = 0; slot < pack_slots; ++slot) {
            if (taken[slot] < 0) continue;
            const auto v = get_lane(along, slot);
            const Seat& seat = lanes.seats[slot];
            if (!group_->inputs().times.saves_the_end) {
                recorder_->add_save_time(seat.lane, taken[slot], v);
                if (!within[slot]) recorder_->add_stop(seat.lane, seat.stop + 1, -v);
            }
            if (!within[slot]) continue;
            const auto by_dt =
                get_lane(moved, slot) / get_lane(dt.h, slot) - get_lane(fraction, slot) * v;
            set_lane(seeds.times.t, slot, get_lane(seeds.times.t, slot) - v);
            set_lane(seeds.times.dt, slot, get_lane(seeds.times.dt, slot) + by_dt);
        }
    }

    /// What one pack is on the way back.
    struct PackBack {
        TimeMask alive = TimeMask(false);  // a lane sits there, and it succeeded
        Time pending = Time(-1);  // progress of the last save point not yet passed; -1: none
        Seat seats[pack_slots];
        State stage[Stepper::num_stages]{}, k[Stepper::num_stages]{};  // of the row
        Number t_cotangent = convert<Number>(0);  // of the steps since the last stop
    };
    static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
    Group* group_;
    Recorder* recorder_;
    PackBack packs_[Program::max_packs];
    std::vector<Sums> sums_;                // (pack) cotangents of the parameters
    std::vector<std::int32_t> saves_left_;  // (lane) save points not yet passed; or handed_out
};

}  // namespace eddy::detail
