#pragma once
// The lanes of a tile forward, and back: reverse accumulation over the rounds that were made, the last one
// first, by the checkpointed loop. Its state are the states of the lanes; when they stepped, and how far,
// stands in a log. What the latest rounds computed of the field is kept as well, so that, as long as it
// fits, the way back computes nothing twice; where it does not, a round is computed again, bit for bit.

#include <eddy/backends/tiles/tile_solve.hpp>
#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/solve/lane/gradient_recorder.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// The states of a tile's lanes, (component, lane).
template <class Real>
struct TileState {
    std::vector<TilePack<Real>> vectors;

    [[nodiscard]] Real* y() { return reinterpret_cast<Real*>(vectors.data()); }
    [[nodiscard]] const Real* y() const { return reinterpret_cast<const Real*>(vectors.data()); }
};

/// The step that a lane made in a round; size zero where it made none.
struct LoggedStep {
    double before, after;  // elapsed
    double size;
    std::int32_t tstop;
};

template <class Spec, class Recorder, class Team>
class TileGradient {
    using Real = typename Spec::Scalar;
    using Solve = TileSolve<Spec, Recorder, true>;
    using Step = typename Solve::Step;
    using Stepper = typename Step::Stepper;
    using LaneState = typename Spec::LaneState;
    static constexpr int state_size = Spec::state_size, parameter_size = Spec::parameter_size;
    static constexpr int num_stages = Stepper::num_stages;
    static constexpr int num_dense_stages = Stepper::num_dense_stages;
    static constexpr int most_lanes = Step::most_lanes;
    static constexpr bool sums_tile = !Spec::sums_by_lane;
    static constexpr std::int64_t block_size = std::int64_t{state_size} * most_lanes;
    static constexpr std::int64_t kept_size =
        std::int64_t{num_dense_stages} * Stepper::rows_per_stage * most_lanes;

  public:
    using State = TileState<Real>;

    /// What a gradient of at most so many bytes of kept rounds works in.
    TileGradient(const Problem<Spec>& problem, std::int64_t bytes_of_rounds, Arena& arena)
        : problem_(&problem), solve_(problem, arena) {
        // More than the caches hold is written and read more slowly than it is computed again.
        constexpr std::int64_t most_bytes = std::int64_t{16} << 20;
        constexpr std::int64_t bytes_of_round = kept_size * static_cast<std::int64_t>(sizeof(Real));
        num_kept_ =
            std::max<std::int64_t>(1, std::min(bytes_of_rounds, most_bytes) / bytes_of_round);
        kept_ = arena.take<Real>(kept_size * num_kept_);
        round_kept_ = arena.take<std::int64_t>(num_kept_);
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
        outer_scratch_ = arena.take<Real>(sums_tile ? outer_size() : 0);
    }

    /// The gradient of `count` lanes from `first_lane` on.
    template <class Loop>
    void run(Loop& loop, Team& team, std::ptrdiff_t first_lane, int count, std::int32_t number,
             Recorder& recorder, LaneOutcome* outcomes) {
        team_ = &team;
        recorder_ = &recorder;
        number_ = number;
        log_.clear();
        num_rounds_ = replayed_ = 0;
        std::fill_n(round_kept_, num_kept_, -1);
        std::fill_n(logged_tstops_, most_lanes, 0);
        const int width = whole_vectors<Real>(count);
        start_.vectors.resize(static_cast<std::size_t>(state_size * (width / native_lanes<Real>)));
        solve_.begin(first_lane, count, number, recorder, outcomes, start_.y());
        loop.body().gradient = this;
        loop.run(start_, [&](const State&, std::int64_t) { return !solve_.is_done(); });
        begin_back(outcomes);
        static_cast<void>(loop.reverse(0));
        hand_out(outcomes);
    }
    [[nodiscard]] std::int64_t replayed_rounds() const { return replayed_; }

    // What the checkpointed loop repeats.

    /// A round: the first time an attempt, then the steps that the log has of it.
    void advance(State& x, std::int64_t round) {
        if (round == num_rounds_) {
            Real* const kept = kept_of(round);
            solve_.round(x.y(), *team_, kept);
            log_round();
            round_kept_[round % num_kept_] = round;
            ++num_rounds_;
            return;
        }
        ++replayed_;
        take_from_log(round);
        Step& step = solve_.step();
        step.stepper().template stages<0, num_stages>(step.interval(), x.y(), nullptr);
        step.stepper().next_state(step.interval(), x.y(), step.work());
        choose_rows(x.y(), state_size, step.width(), choose_stepped(round, false), step.work());
    }
    void pull(const State& x, std::int64_t round) {
        take_from_log(round);
        Step& step = solve_.step();
        const int width = step.width();
        const bool is_dense = add_saves(round);
        const Real* const chosen = choose_stepped(round, true);
        if (num_taking_part_ == 0) return;
        const bool is_kept = round_kept_[round % num_kept_] == round;
        if (is_dense) {
            if (!is_kept || !step.keeps_dense_stages()) linearize<num_dense_stages>(x, round);
            pull_stages<num_dense_stages>(round, dense_of_k_);
            add_rows(pulled_, state_size, width, dense_of_y_);
        } else {
            if (!is_kept) linearize<num_stages>(x, round);
            pull_stages<num_stages>(round, nullptr);
        }
        choose_rows(cotangent_, state_size, width, chosen, pulled_);
    }

  private:
    [[nodiscard]] Real* kept_of(std::int64_t round) const {
        return kept_ + round % num_kept_ * kept_size;
    }
    [[nodiscard]] int num_lanes() { return solve_.step().num_lanes(); }
    [[nodiscard]] const LoggedStep& logged(std::int64_t round, int lane) {
        return log_[static_cast<std::size_t>(round * num_lanes() + lane)];
    }
    void log_round() {
        for (int lane = 0; lane < num_lanes(); ++lane) {
            const LaneClock<Spec>& clock = solve_.clock(lane);
            log_.push_back({clock.before(), clock.elapsed(),
                            clock.was_accepted() ? clock.size() : 0, logged_tstops_[lane]});
            logged_tstops_[lane] = clock.tstop();
        }
    }
    void take_from_log(std::int64_t round) {
        for (int lane = 0; lane < num_lanes(); ++lane) {
            const LoggedStep& step = logged(round, lane);
            solve_.step().set_step(lane, step.before, step.size, step.tstop);
        }
        solve_.step().fill_up();
    }
    /// The lanes that made a step in a round; on the way back those alone that are alive.
    const Real* choose_stepped(std::int64_t round, bool if_alive) {
        num_taking_part_ = 0;
        return solve_.step().choose_lanes([&](int lane) {
            const bool chosen = logged(round, lane).size > 0 && (!if_alive || is_alive_[lane]);
            if (chosen) lanes_[num_taking_part_++] = lane;
            return chosen;
        });
    }

    void begin_back(const LaneOutcome* outcomes) {
        std::fill_n(cotangent_, block_size, Real(0));
        std::fill_n(of_p_, std::int64_t{parameter_size} * (sums_tile ? 1 : most_lanes), Real(0));
        for (int lane = 0; lane < num_lanes(); ++lane) {
            is_alive_[lane] = !is_failure(outcomes[lane].result);
            saves_left_[lane] = is_alive_[lane] ? solve_.num_saved(lane) : 0;
        }
    }

    /// The cotangents of save points in a round: those at the ends of steps enter there, the others as
    /// dense output has them. True where there are any of the latter.
    bool add_saves(std::int64_t round) {
        bool is_dense = false;
        const LaneTimes& times = problem_->times;
        for (int lane = 0; lane < num_lanes(); ++lane) {
            const LoggedStep& step = logged(round, lane);
            if (step.size == 0) continue;
            while (saves_left_[lane] > 0 && times.saves[saves_left_[lane] - 1] > step.before) {
                const std::int32_t k = --saves_left_[lane];
                const LaneState seed = recorder_->pull_save(number_ + lane, k);
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
            pull(SumOverTile<Real>{of_p_, lanes, outer_scratch_});
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
            choose_rows(of_p_, parameter_size, width, choose_stepped(round, true), of_step_);
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
                add_to(cotangent_, lane, recorder_->pull_save(number_ + lane, --saves_left_[lane]));
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

    static constexpr std::int64_t outer_size() {
        constexpr int longest = Stepper::template longest<true>;
        return std::int64_t{whole_vectors<Real>(longest)} * most_lanes;
    }

    const Problem<Spec>* problem_;
    Solve solve_;
    Team* team_ = nullptr;
    Recorder* recorder_ = nullptr;
    std::int32_t number_ = 0;

    State start_;
    std::vector<LoggedStep> log_;  // (round, lane)
    std::int32_t logged_tstops_[most_lanes] = {};
    std::int64_t num_rounds_ = 0, replayed_ = 0, num_kept_ = 1;
    Real* kept_ = nullptr;                // (kept round, stage, row, lane)
    std::int64_t* round_kept_ = nullptr;  // (kept round)

    Real *cotangent_ = nullptr, *pulled_ = nullptr, *dense_of_y_ = nullptr;
    Real* dense_of_k_[num_dense_stages] = {};
    Real *of_p_ = nullptr, *of_step_ = nullptr, *outer_scratch_ = nullptr;
    int* lanes_ = nullptr;  // that take part in a round
    int num_taking_part_ = 0;
    std::int32_t* saves_left_ = nullptr;
    bool* is_alive_ = nullptr;
};

/// The rounds of a tile, as the checkpointed loop sees them. The cotangents stay with the gradient.
template <class Gradient>
struct TileRounds {
    using State = typename Gradient::State;
    Gradient* gradient = nullptr;

    void advance_in_place(State& x, std::int64_t round) const { gradient->advance(x, round); }
    [[nodiscard]] State advance(const State& x, std::int64_t round) const {
        State next = x;
        gradient->advance(next, round);
        return next;
    }
    int pullback(const State& x, std::int64_t round, int nothing) {
        gradient->pull(x, round);
        return nothing;
    }
};

}  // namespace eddy::inline v0::detail
