#pragma once
// A group of lanes forward and back: the checkpointed loop over its rows. Forward, a row is an
// attempt of every slot, and the sizes of accepted steps are logged; back, a row is taken again
// from the log, without attempts or error estimates, and pulled back. Where the log would not fit,
// a replay repeats the attempts from the controller's state in the checkpoint. On the way back a
// slot receives the cotangents of a lane's save points as its rows pass them, and hands out the
// lane's gradient when the row is reached at which the lane sat down.

#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/solve/lane_group.hpp>
#include <optional>
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

/// How much a group may keep.
struct GroupMemory {
    std::int64_t checkpoints = 1;
    std::int64_t logged_rows = 0;
    std::int64_t last_refill_row = 0;
};

/// `Recorder` receives states and loss on the way forward, gives the cotangents of save points on
/// the way back, and takes the gradients: see gradient_recorder.hpp.
template <class Program, class Recorder>
class GradientGroup {
    using Number = typename Program::Number;
    using Primal = typename Program::Primal;
    using Time = typename Program::Time;
    using State = typename Program::State;
    using LaneState = typename Program::LaneState;
    using Stepper = typename Program::Stepper;
    using Dense = typename Program::Dense;
    using Group = LaneGroup<Program, Recorder>;
    using Loop = LoopState<Program>;
    using Cotangents = PerPack<Program, State>;
    using Sums = Vec<Number, Program::parameter_room>;
    using TimeMask = MaskOf<Time>;
    static constexpr int pack_slots = Program::pack_slots;
    static constexpr int num_dense_stages = Stepper::num_dense_stages;

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
    using RowLoop = CheckpointedLoop<Loop, Body, MemoryStore<Loop>, Cotangents>;

  public:
    explicit GradientGroup(Recorder& recorder) : recorder_(&recorder), group_(recorder) {}
    GradientGroup(const GradientGroup&) = delete;
    GradientGroup& operator=(const GradientGroup&) = delete;

    /// Bytes that a row costs when its state is kept, and the part of the log among them.
    static constexpr std::int64_t bytes_per_checkpoint = sizeof(Loop) + 48;
    static constexpr std::int64_t bytes_per_logged_row = sizeof(Time) * Program::max_packs;

    /// The gradients of lanes [first, first + outcomes.size()), in rounds where they do not all
    /// fit.
    void run(const LaneInputs<Program>& inputs, std::ptrdiff_t first,
             std::span<LaneOutcome> outcomes, const GroupMemory& memory, LoopCounters& counters) {
        if (!loop_ || memory_.checkpoints != memory.checkpoints)
            loop_.emplace(Body{this}, LoopOptions{.checkpoints = memory.checkpoints});
        memory_ = memory;
        group_.begin(inputs, first, outcomes);
        sums_.assign(Program::max_packs, Sums{});
        while (group_.has_waiting_lanes()) {
            forward();
            back();
            add(counters);
        }
        if constexpr (Program::shares_parameters) {
            for (const Sums& sums : sums_) recorder_->add_shared(sums);
        }
    }

  private:
    /// What one pack is on the way back.
    struct PackBack {
        TimeMask alive = TimeMask(false);  // a lane sits there, and it succeeded
        Time pending = Time(-1);  // progress of the last save point not yet passed; -1: none
        Seat seats[pack_slots];
    };
    /// Cotangents of save points within a step.
    struct Seeds {
        bool within = false;  // any, apart from those of the step's end
        State y{};
        State k[num_dense_stages]{};
    };

    static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

    void forward() {
        Loop x;
        group_.seat_all(x, memory_.last_refill_row);
        num_packs_ = x.num_packs;
        is_back_ = false;
        is_logged_ = true;
        log_.clear();
        loop_->run(x, [this](const Loop&, std::int64_t) { return group_.is_running(); });
    }

    void back() {
        is_back_ = true;
        saves_left_.resize(index(group_.num_lanes()));
        for (std::int32_t lane = 0; lane < group_.num_lanes(); ++lane)
            saves_left_[index(lane)] = group_.num_saved(lane);
        for (int pack = 0; pack < num_packs_; ++pack) {
            packs_[pack] = {};
            for (int slot = 0; slot < pack_slots; ++slot)
                set_seat(pack * pack_slots + slot, group_.last_seat(pack, slot));
        }
        Cotangents cotangents;
        cotangents.num_packs = num_packs_;
        for (int pack = 0; pack < num_packs_; ++pack) cotangents.pack[pack] = State{};
        static_cast<void>(loop_->reverse(cotangents));
    }

    void add(LoopCounters& counters) const {
        const LoopCounters& own = loop_->counters();
        counters.advances += own.advances;
        counters.recomputed += own.recomputed;
        counters.pullbacks += own.pullbacks;
        counters.stores += own.stores;
        counters.loads += own.loads;
        counters.peak_checkpoints = std::max(counters.peak_checkpoints, own.peak_checkpoints);
    }

    void advance(Loop& x, std::int64_t row) {
        if (is_back_) {
            take_again(x, row);
            return;
        }
        PerPack<Program, Time> used;
        group_.advance(x, row, used);
        if (is_logged_) log(used);
    }

    void log(const PerPack<Program, Time>& used) {
        if (static_cast<std::int64_t>(log_.size()) >= memory_.logged_rows * num_packs_) {
            is_logged_ = false;
            log_.clear();
            return;
        }
        for (int pack = 0; pack < num_packs_; ++pack) log_.push_back(used.pack[pack]);
    }

    // The seats as they were at a row.
    void seek(std::int64_t row) {
        group_.seating.seek(row, [this](int slot, const Seat& seat) { set_seat(slot, seat); });
    }
    void set_seat(int global_slot, const Seat& seat) {
        const int pack = global_slot / pack_slots, slot = global_slot % pack_slots;
        PackBack& lanes = packs_[pack];
        lanes.seats[slot] = seat;
        auto& slots = group_.slots(pack);
        slots.forget_last_stage();
        const bool seated = seat.lane != no_lane;
        const bool alive = seated && !is_failure(group_.outcome(seat.lane).result);
        if (seated) slots.parameters.seat(group_.inputs(), slot, group_.first_lane() + seat.lane);
        set_lane(slots.stop, slot, seated ? group_.stop_of(seat).before : 0.);
        set_lane(lanes.alive, slot, alive);
        set_lane(lanes.pending, slot, alive ? pending_of(seat.lane) : -1.);
    }
    [[nodiscard]] double pending_of(std::int32_t lane) const {
        const std::int32_t left = saves_left_[index(lane)];
        return left > 0 ? group_.inputs().times.saves[index(left - 1)] : -1;
    }

    /// A row of the way forward, once more: bit for bit what it was.
    void take_again(Loop& x, std::int64_t row) {
        seek(row);
        for (int pack = 0; pack < num_packs_; ++pack) {
            if (is_logged_) {
                step_again(x.pack[pack], pack, logged(row, pack));
            } else {
                State k[Group::num_stages];
                static_cast<void>(group_.slots(pack).attempt(x.pack[pack], row, k));
            }
        }
        group_.seating.visit_after_cursor(row, [&](const SeatChange& change) {
            group_.enter_seat(x.pack[change.slot / pack_slots], change.slot % pack_slots, change);
        });
    }

    [[nodiscard]] const Time& logged(std::int64_t row, int pack) const {
        return log_[index(row * num_packs_ + pack)];
    }

    /// Is this a step of the constant size that all slots share?
    [[nodiscard, gnu::always_inline]] bool is_uniform(const Time& h) const {
        if constexpr (Program::is_adaptive)
            return false;
        else
            return all(h == Time(group_.inputs().times.dt0));
    }

    [[gnu::always_inline]] void step_again(PackState<Program>& x, int pack, const Time& h) {
        auto& slots = group_.slots(pack);
        if (is_uniform(h)) {
            slots.uniform_row(x);
            return;
        }
        const State next =
            Stepper::step(slots.time_at(x.s), x.y, slots.parameters.values(), slots.size_of(h));
        const auto moves = convert<Primal>(h) != Primal(0);
        for_components<Program::state_size>([&](int i) __attribute__((always_inline)) {
            x.y[i] = select(moves, next[i], x.y[i]);
        });
        x.s = select(h != Time(0), Group::next_progress(x.s, h, slots.stop), x.s);
    }

    Cotangents pull_back(const Loop& x, std::int64_t row, const Cotangents& cotangents) {
        seek(row);
        Cotangents result;
        result.num_packs = num_packs_;
        for (int pack = 0; pack < num_packs_; ++pack)
            result.pack[pack] =
                pull_pack(x.pack[pack], pack, used_at(x, row, pack), cotangents.pack[pack]);
        group_.seating.visit_before_cursor(row - 1, [&](const SeatChange& change) {
            if (change.seats_a_lane()) hand_out(result, change);
        });
        return result;
    }

    [[nodiscard]] Time used_at(const Loop& x, std::int64_t row, int pack) {
        if (is_logged_) return logged(row, pack);
        PackState<Program> copy = x.pack[pack];
        State k[Group::num_stages];
        return group_.slots(pack).attempt(copy, row, k).used;
    }

    [[gnu::always_inline]] State pull_pack(const PackState<Program>& x, int pack, const Time& h,
                                           const State& next_cotangent) {
        PackBack& lanes = packs_[pack];
        auto& slots = group_.slots(pack);
        const TimeMask moves = lanes.alive & (h != Time(0));
        if (any((lanes.pending > x.s) & moves)) [[unlikely]]
            return pull_pack_with_saves(x, pack, h, next_cotangent);
        NoTimeCotangents times;
        const auto pull = [&](const auto& dt) __attribute__((always_inline)) {
            return pull_step(x, pack, dt, h, next_cotangent, NoStageCotangents{}, times);
        };
        return is_uniform(h) ? pull(slots.uniform_size()) : pull(slots.size_of(h));
    }

    /// The step's adjoint, for the lanes that moved.
    template <class Size, class StageCotangents, class Times>
    [[gnu::always_inline]] State pull_step(const PackState<Program>& x, int pack, const Size& dt,
                                           const Time& h, const State& next_cotangent,
                                           const StageCotangents& own, Times& times) {
        auto& slots = group_.slots(pack);
        const auto moves = convert<Primal>(select(packs_[pack].alive, h, Time(0))) != Primal(0);
        State pulled;
        const auto pull = [&](Sums & sums) __attribute__((always_inline)) {
            MaskedSum<Number, MaskOf<Primal>, Program::parameter_room> sum{sums, moves};
            pulled = Stepper::pullback(slots.time_at(x.s), x.y, slots.parameters.values(), dt,
                                       next_cotangent, own, sum, times);
        };
        if constexpr (Program::parameter_size <= longest_unrolled) {
            Sums local = sums_[index(pack)];  // in registers
            pull(local);
            sums_[index(pack)] = local;
        } else {
            pull(sums_[index(pack)]);
        }
        for_components<Program::state_size>([&](int i) __attribute__((always_inline)) {
            pulled[i] = select(moves, pulled[i], next_cotangent[i]);
        });
        return pulled;
    }

    /// A row within which, or at whose end, some lane has save points.
    [[gnu::noinline]] State pull_pack_with_saves(const PackState<Program>& x, int pack,
                                                 const Time& h, State cotangent) {
        const auto dt = group_.slots(pack).size_of(h);
        Seeds seeds;
        collect_seeds(x, pack, h, cotangent, seeds);
        NoTimeCotangents times;
        if (!seeds.within) return pull_step(x, pack, dt, h, cotangent, NoStageCotangents{}, times);
        State pulled = pull_step(x, pack, dt, h, cotangent, seeds.k, times);
        for (int i = 0; i < Program::state_size; ++i) pulled[i] = pulled[i] + seeds.y[i];
        return pulled;
    }

    /// Takes the save points of this row, the last ones first: those at its end go to the cotangent
    /// of the state there, those within to y and the stages.
    void collect_seeds(const PackState<Program>& x, int pack, const Time& h, State& cotangent,
                       Seeds& seeds) {
        PackBack& lanes = packs_[pack];
        const auto dt = group_.slots(pack).size_of(h);
        const Time end = Group::next_progress(x.s, h, group_.slots(pack).stop);
        for (;;) {
            const TimeMask due = (lanes.pending > x.s) & lanes.alive & (h != Time(0));
            if (!any(due)) return;
            Time theta(0);
            State seed{};
            bool within = false;
            for (int slot = 0; slot < pack_slots; ++slot) {
                if (!get_lane(due, slot)) continue;
                const double at = get_lane(lanes.pending, slot);
                const LaneState lane_seed = take_save(pack, slot);
                const bool at_end = at == get_lane(end, slot);
                for (int i = 0; i < Program::state_size; ++i) {
                    State& target = at_end ? cotangent : seed;
                    set_lane(target[i], slot, get_lane(target[i], slot) + lane_seed[i]);
                }
                if (at_end) continue;
                within = true;
                set_lane(theta, slot, (at - get_lane(x.s, slot)) / get_lane(h, slot));
            }
            if (!within) continue;
            Dense::pullback(dt.h, convert<Primal>(theta), seed, seeds.y, seeds.k);
            seeds.within = true;
        }
    }

    /// The cotangent of a lane's last save point not yet passed; passes it.
    LaneState take_save(int pack, int slot) {
        const std::int32_t lane = packs_[pack].seats[slot].lane;
        const LaneState seed = recorder_->pull_save(lane, --saves_left_[index(lane)]);
        set_lane(packs_[pack].pending, slot, pending_of(lane));
        return seed;
    }

    /// A lane sat down here: what its slot holds is its gradient.
    void hand_out(Cotangents& cotangents, const SeatChange& change) {
        const int pack = change.slot / pack_slots, slot = change.slot % pack_slots;
        const std::int32_t lane = change.to.lane;
        const bool alive = get_lane(packs_[pack].alive, slot);
        LaneState y_cotangent{};
        for (int i = 0; i < Program::state_size; ++i) {
            y_cotangent[i] = get_lane(cotangents.pack[pack][i], slot);
            set_lane(cotangents.pack[pack][i], slot, typename Program::Lane(0));
        }
        while (alive && saves_left_[index(lane)] > 0) {  // at the start itself
            const LaneState seed = take_save(pack, slot);
            for (int i = 0; i < Program::state_size; ++i) y_cotangent[i] = y_cotangent[i] + seed[i];
        }
        if (alive) recorder_->add_y0(lane, y_cotangent);
        if constexpr (!Program::shares_parameters) {
            Sums& sums = sums_[index(pack)];
            for (int i = 0; i < Program::parameter_size; ++i) {
                if (alive) recorder_->add_p(lane, i, get_lane(sums[i], slot));
                set_lane(sums[i], slot, typename Program::Lane(0));
            }
        }
    }

    Recorder* recorder_;
    Group group_;
    std::optional<RowLoop> loop_;
    GroupMemory memory_;
    int num_packs_ = 0;
    bool is_back_ = false;
    bool is_logged_ = true;
    std::vector<Time> log_;  // (row, pack) sizes of accepted steps, zero where none was
    PackBack packs_[Program::max_packs];
    std::vector<Sums> sums_;                // (pack) cotangents of the parameters
    std::vector<std::int32_t> saves_left_;  // (lane) save points not yet passed on the way back
};

}  // namespace eddy::detail
