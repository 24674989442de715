#pragma once
// The lanes of a tile forward and back: reverse accumulation over its rounds by the checkpointed loop. The loop's
// state is that of the lanes; a log has the times and sizes of their steps. What the latest rounds computed of the
// field is kept as long as it fits; where it does not, the way back computes the round again, bit for bit.
// Test: tests/solve/tiles_oracle.cpp, tests/backends/tiles_memory.cpp

#include <eddy/backends/tiles/tile_plan.hpp>
#include <eddy/backends/tiles/tile_solve.hpp>
#include <eddy/solve/lane/gradient_recorder.hpp>

namespace eddy::inline v0::detail {

template <class Spec, class Recorder, class Team>
class TileGradient {
    using Real = typename Spec::Scalar;
    using Solve = TileSolve<Spec, Recorder, true>;
    using Step = typename Solve::Step;
    using Stepper = typename Step::Stepper;
    using LaneState = typename Spec::LaneState;
    using Room = TileRoom<Spec>;
    using Clock = LaneClock<Spec>;
    static constexpr int state_size = Spec::state_size, parameter_size = Spec::parameter_size;
    static constexpr int num_stages = Stepper::num_stages;
    static constexpr int num_dense_stages = Stepper::num_dense_stages;
    static constexpr int most_lanes = Step::most_lanes;
    static constexpr bool sums_tile = !Spec::sums_by_lane;
    static constexpr std::int64_t block_size = std::int64_t{state_size} * most_lanes;

  public:
    using State = TileState<Spec>;

    /// What a gradient works in that was planned so.
    TileGradient(const Problem<Spec>& problem, const GradientPlan& plan, Arena& arena)
        : problem_(&problem),
          solve_(problem, arena),
          planned_bytes_(static_cast<std::int64_t>(arena.num_bytes())),
          log_(plan.logged_rounds * most_lanes, plan.slots * most_lanes, most_lanes, arena),
          room_for_kept_(Room::kept_rows * most_lanes * plan.slots),
          kept_(arena.take<Real>(room_for_kept_)),
          round_kept_(arena.take<std::int64_t>(plan.slots * (most_lanes / native_lanes<Real>))) {
        planned_bytes_ = static_cast<std::int64_t>(arena.num_bytes()) - planned_bytes_;
        attempts_ = arena.take<std::int64_t>(most_lanes);
        cotangent_ = arena.take<Real>(block_size);
        pulled_ = arena.take<Real>(block_size);
        dense_of_y_ = arena.take<Real>(block_size);
        for (Real*& block : dense_of_k_) block = arena.take<Real>(block_size);
        lanes_ = arena.take<int>(most_lanes);
        saves_left_ = arena.take<std::int32_t>(most_lanes);
        is_alive_ = arena.take<bool>(most_lanes);
        constexpr std::int64_t sums = std::int64_t{parameter_size} * (sums_tile ? 1 : most_lanes);
        of_p_ = arena.take<Real>(sums);
        of_step_ = arena.take<Real>(sums_tile ? 0 : sums);
        if constexpr (sums_tile) {
            constexpr int depth = outer_depth(num_stages, most_lanes);
            constexpr std::int64_t lanes = std::int64_t{depth} * most_lanes;
            outer_ = {arena.take<Real>(Stepper::num_outer_rows * lanes), depth};
        }
    }

    /// What does not lie in the arena, kept from call to call.
    struct Lists {
        State start;
        std::vector<Clock> after_log, clocks;  // those of the first state behind the log; at work
    };
    void work_in(Lists& lists) { lists_ = &lists; }

    /// The gradient of `count` lanes from `first_lane` on.
    template <class Loop>
    void run(Loop& loop, Team& team, std::ptrdiff_t first_lane, int count, std::int32_t number,
             Recorder& recorder, LaneOutcome* outcomes) {
        team_ = &team;
        recorder_ = &recorder;
        number_ = number;
        num_rounds_ = replayed_ = 0;
        const int width = whole_vectors<Real>(count);
        kept_size_ = Room::kept_rows * width;
        num_kept_ = room_for_kept_ / kept_size_;
        std::fill_n(round_kept_, num_kept_, -1);
        std::fill_n(logged_tstops_, most_lanes, 0);
        log_.begin(count, num_kept_);
        State& start = lists_->start;
        start.vectors.resize(static_cast<std::size_t>(state_size * (width / native_lanes<Real>)));
        solve_.begin(first_lane, count, number, recorder, outcomes, start.y());
        start.clocks.clear();
        carry_clocks(start);
        loop.body().gradient = this;
        loop.run(start, [&](const State&, std::int64_t) { return !solve_.is_done(); });
        go_back(loop, outcomes);
        if (sums_tile && Recorder::has_report && leave_out_infinite(outcomes)) {
            // Sums have taken up what those lanes brought: once more without them, by the log.
            loop.run(start, [&](const State&, std::int64_t round) { return round < num_rounds_; });
            go_back(loop, outcomes);
        }
        hand_out(outcomes);
    }
    [[nodiscard]] std::int64_t replayed_rounds() const { return replayed_; }

    /// Bytes of the arena that rounds are planned for, and those that the last tile's have written.
    [[nodiscard]] std::int64_t planned_bytes() const { return planned_bytes_; }
    [[nodiscard]] std::int64_t used_bytes() const {
        constexpr std::int64_t of_real = sizeof(Real), of_number = sizeof(std::int64_t);
        return std::min(num_rounds_, num_kept_) * kept_size_ * of_real + num_kept_ * of_number +
               log_.bytes_of(num_rounds_) + most_lanes * std::int64_t{sizeof(LoggedStep)};
    }
    /// The bytes of a state of the last tile.
    [[nodiscard]] std::int64_t bytes_of_state() const {
        return State::num_bytes(static_cast<int>(kept_size_ / Room::kept_rows),
                                lists_->after_log.size());
    }

    // What the checkpointed loop repeats.

    /// A round: the first time an attempt, then the steps that the log has of it, or the attempt again.
    void advance(State& x, std::int64_t round) {
        if (round == num_rounds_) return make_round(x, round);
        ++replayed_;
        Step& step = solve_.step();
        if (round >= log_.num_first()) {
            attempt_again(x.y(), x.clocks, nullptr, log_.spare());
            settle_again(x.clocks);
            step.accept(x.y(), x.clocks.data());
            return;
        }
        take_steps(log_.row(round));
        step.stepper().template stages<0, num_stages>(step.interval(), x.y(), nullptr);
        step.stepper().next_state(step.interval(), x.y(), step.work());
        choose_rows(x.y(), state_size, step.width(), choose_stepped(false), step.work());
        if (round + 1 == log_.num_first()) x.clocks = lists_->after_log;
    }
    void pull(const State& x, std::int64_t round) {
        Step& step = solve_.step();
        const int width = step.width();
        if (round >= log_.num_first() && !is_kept(round)) {
            lists_->clocks = x.clocks;
            attempt_again(x.y(), lists_->clocks, kept_of(round), log_.row(round));
            round_kept_[round % num_kept_] = round;
            ++replayed_;
        }
        take_steps(log_.row(round));
        const bool is_dense = add_saves();
        const Real* const chosen = choose_stepped(true);
        if (num_taking_part_ == 0) return;
        if (is_dense) {
            if (!is_kept(round) || !step.keeps_dense_stages())
                linearize<num_dense_stages>(x, round);
            pull_stages<num_dense_stages>(round, dense_of_k_);
            add_rows(pulled_, state_size, width, dense_of_y_);
        } else {
            if (!is_kept(round)) linearize<num_stages>(x, round);
            pull_stages<num_stages>(round, nullptr);
        }
        choose_rows(cotangent_, state_size, width, chosen, pulled_);
    }

  private:
    [[nodiscard]] Real* kept_of(std::int64_t round) const {
        return kept_ + round % num_kept_ * kept_size_;
    }
    [[nodiscard]] bool is_kept(std::int64_t round) const {
        return round_kept_[round % num_kept_] == round;
    }
    [[nodiscard]] int num_lanes() { return solve_.step().num_lanes(); }

    void make_round(State& x, std::int64_t round) {
        solve_.round(x.y(), *team_, kept_of(round));
        round_kept_[round % num_kept_] = round;
        LoggedStep* const row = log_.row(round);
        for (int lane = 0; lane < num_lanes(); ++lane) {
            row[lane] = step_of(solve_.clock(lane), logged_tstops_[lane]);
            logged_tstops_[lane] = solve_.clock(lane).tstop();
        }
        ++num_rounds_;
        carry_clocks(x);
    }
    [[nodiscard]] static LoggedStep step_of(const Clock& clock, std::int32_t tstop) {
        return {clock.before(), clock.elapsed(), clock.was_accepted() ? clock.size() : 0, tstop};
    }
    /// Carries the clocks of its lanes in a state behind the end of the log.
    void carry_clocks(State& x) {
        if (num_rounds_ == 0) lists_->after_log.clear();
        if (num_rounds_ < log_.num_first()) return;
        x.clocks.assign(&solve_.clock(0), &solve_.clock(0) + num_lanes());
        if (num_rounds_ == log_.num_first()) lists_->after_log = x.clocks;
    }
    /// The attempt of a round that is not in the log, from the clocks before it.
    void attempt_again(const Real* y, std::vector<Clock>& clocks, Real* kept, LoggedStep* row) {
        Step& step = solve_.step();
        step.attempt(y, clocks.data(), kept);
        step.judge(clocks.data());
        for (int lane = 0; lane < num_lanes(); ++lane)
            row[lane] = step_of(clocks[static_cast<std::size_t>(lane)],
                                clocks[static_cast<std::size_t>(lane)].tstop());
    }
    /// Settles again what the attempt meant for the lanes.
    void settle_again(std::vector<Clock>& clocks) const {
        for (std::size_t lane = 0; lane < clocks.size(); ++lane) {
            Clock& clock = clocks[lane];
            if (!clock.is_running()) continue;
            if (clock.attempts() == attempts_[lane])
                clock.stop();
            else if (clock.is_at(problem_->times.of_all().tstops[clock.tstop()]))
                clock.head_for(clock.tstop() + 1);
        }
    }
    /// The steps of the round at hand.
    void take_steps(const LoggedStep* row) {
        steps_ = row;
        for (int lane = 0; lane < num_lanes(); ++lane)
            solve_.step().set_step(lane, row[lane].before, row[lane].size, row[lane].tstop);
        solve_.step().fill_up();
    }
    /// The lanes that made a step in it; on the way back those alone that are alive.
    const Real* choose_stepped(bool if_alive) {
        num_taking_part_ = 0;
        return solve_.step().choose_lanes([&](int lane) {
            const bool chosen = steps_[lane].size > 0 && (!if_alive || is_alive_[lane]);
            if (chosen) lanes_[num_taking_part_++] = lane;
            return chosen;
        });
    }

    template <class Loop>
    void go_back(Loop& loop, const LaneOutcome* outcomes) {
        begin_back(outcomes);
        static_cast<void>(loop.reverse(0));
    }
    /// Lanes whose values are numbers and whose derivative is not, as that of √y at 0; false: there are none.
    bool leave_out_infinite(LaneOutcome* outcomes) {
        bool found = false;
        for (int lane = 0; lane < num_lanes(); ++lane) {
            if (!is_alive_[lane] || is_finite(solve_.step().state_of(lane, cotangent_))) continue;
            outcomes[lane].result = Result::non_finite, found = true;
        }
        return found;
    }
    /// The cotangent of a save point; what it asks of weights that the tile sums is part of that sum.
    [[nodiscard]] LaneState pull_save(int lane, std::int32_t k) {
        if constexpr (!sums_tile) return recorder_->pull_save(number_ + lane, k);
        return recorder_->pull_save(number_ + lane, k,
                                    [&](int i, const Real& value) { of_p_[i] += value; });
    }

    void begin_back(const LaneOutcome* outcomes) {
        std::fill_n(cotangent_, block_size, Real(0));
        std::fill_n(of_p_, std::int64_t{parameter_size} * (sums_tile ? 1 : most_lanes), Real(0));
        for (int lane = 0; lane < num_lanes(); ++lane) {
            is_alive_[lane] = !is_failure(outcomes[lane].result);
            saves_left_[lane] = is_alive_[lane] ? solve_.num_saved(lane) : 0;
            attempts_[lane] = solve_.clock(lane).attempts();
        }
    }

    /// The cotangents of save points in the round: those at the ends of steps enter there, the others as
    /// dense output has them. True where there are any of the latter.
    bool add_saves() {
        bool is_dense = false;
        const LaneTimes times = problem_->times.of_all();
        for (int lane = 0; lane < num_lanes(); ++lane) {
            const LoggedStep& step = steps_[lane];
            if (step.size == 0) continue;
            while (saves_left_[lane] > 0 && times.saves[saves_left_[lane] - 1] > step.before) {
                const std::int32_t k = --saves_left_[lane];
                const LaneState seed = pull_save(lane, k);
                if (times.saves[k] == step.after) {
                    add_to(cotangent_, lane, seed);
                } else {
                    if (!is_dense) clear_dense();
                    is_dense = true;
                    add_dense(lane, seed, (times.saves[k] - step.before) / step.size);
                }
            }
        }
        return is_dense;
    }
    void add_to(Real* rows, int lane, const LaneState& value) {
        for (int c = 0; c < state_size; ++c) rows[c * solve_.step().width() + lane] += value[c];
    }
    void clear_dense() {
        std::fill_n(dense_of_y_, block_size, Real(0));
        for (Real* block : dense_of_k_) std::fill_n(block, block_size, Real(0));
    }
    void add_dense(int lane, const LaneState& seed, double theta) {
        Step& step = solve_.step();
        LaneState of_y = step.state_of(lane, dense_of_y_), of_k[num_dense_stages];
        for (int i = 0; i < num_dense_stages; ++i) of_k[i] = step.state_of(lane, dense_of_k_[i]);
        Interpolant<typename Spec::Method>::pullback(step.interval().h[lane],
                                                     static_cast<Real>(theta), seed, of_y, of_k);
        const auto store = [&](Real* rows, const LaneState& value) {
            for (int c = 0; c < state_size; ++c) rows[c * step.width() + lane] = value[c];
        };
        store(dense_of_y_, of_y);
        for (int i = 0; i < num_dense_stages; ++i) store(dense_of_k_[i], of_k[i]);
    }

    template <int count>
    void linearize(const State& x, std::int64_t round) {
        Step& step = solve_.step();
        step.stepper().template stages<0, count>(step.interval(), x.y(), kept_of(round));
        round_kept_[round % num_kept_] = round;
        ++replayed_;
    }
    template <int count>
    void pull_stages(std::int64_t round, Real* const* of_stages) {
        Step& step = solve_.step();
        const int width = step.width();
        const auto pull = [&](auto&& sink) {
            step.stepper().template pull<count>(step.interval(), kept_of(round), of_stages,
                                                cotangent_, pulled_, sink);
        };
        if constexpr (sums_tile) {
            const TileLanes lanes{lanes_, num_taking_part_, num_taking_part_ == width};
            pull(SumOverTile<Real>{of_p_, lanes, outer_});
        } else {
            // Parameters, where they are few, get the sum of the whole step.
            constexpr bool sums_step = parameter_size <= longest_unrolled;
            const std::ptrdiff_t size = std::ptrdiff_t{parameter_size} * width;
            if constexpr (sums_step)
                std::fill_n(of_step_, size, Real(0));
            else
                std::copy_n(of_p_, size, of_step_);
            pull(SumOfLanes<Real>{of_step_, width});
            if constexpr (sums_step) {
                add_rows(of_step_, parameter_size, width, of_p_);
            }
            choose_rows(of_p_, parameter_size, width, choose_stepped(true), of_step_);
        }
    }

    /// Save points at t0, and what the lanes have got.
    void hand_out(LaneOutcome* outcomes) {
        Step& step = solve_.step();
        for (int lane = 0; lane < num_lanes(); ++lane) {
            if (!is_alive_[lane]) {
                recorder_->forget(number_ + lane);
                continue;
            }
            while (saves_left_[lane] > 0)
                add_to(cotangent_, lane, pull_save(lane, --saves_left_[lane]));
            recorder_->add_y0(number_ + lane, step.state_of(lane, cotangent_));
            if constexpr (!sums_tile) {
                for (int i = 0; i < parameter_size; ++i)
                    recorder_->add_p(number_ + lane, i, of_p_[i * step.width() + lane]);
            }
            // A derivative may be infinite where all values are numbers, as that of √y at 0.
            if (Recorder::has_report && !recorder_->has_finite_gradient(number_ + lane)) {
                outcomes[lane].result = Result::non_finite;
                recorder_->forget(number_ + lane);
            }
        }
        if constexpr (sums_tile) {
            for (int i = 0; i < parameter_size; ++i) recorder_->add_p(number_, i, of_p_[i]);
        }
    }

    const Problem<Spec>* problem_;
    Solve solve_;
    Lists* lists_ = nullptr;
    std::int64_t planned_bytes_;
    Team* team_ = nullptr;
    Recorder* recorder_ = nullptr;
    std::int32_t number_ = 0;

    TileLog log_;
    const LoggedStep* steps_ = nullptr;  // of the round at hand, (lane)
    std::int32_t logged_tstops_[most_lanes] = {};
    std::int64_t* attempts_ = nullptr;  // (lane) at its end
    std::int64_t num_rounds_ = 0, replayed_ = 0;
    std::int64_t room_for_kept_, kept_size_ = 1, num_kept_ = 1;  // numbers, of a round, rounds
    Real* kept_;                                                 // (kept round, stage, row, lane)
    std::int64_t* round_kept_;                                   // (kept round)

    Real *cotangent_ = nullptr, *pulled_ = nullptr, *dense_of_y_ = nullptr;
    Real* dense_of_k_[num_dense_stages] = {};
    Real *of_p_ = nullptr, *of_step_ = nullptr;
    OuterSums<Real> outer_;
    int* lanes_ = nullptr;  // that take part in a round
    int num_taking_part_ = 0;
    std::int32_t* saves_left_ = nullptr;
    bool* is_alive_ = nullptr;
};

}  // namespace eddy::inline v0::detail
