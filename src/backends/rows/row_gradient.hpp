#pragma once
// The lanes of a tile forward and back: reverse accumulation over its rounds by the checkpointed loop. The loop's
// state is that of the lanes; a log has the times and sizes of their steps. What the latest rounds computed of the
// field is kept as long as it fits; where it does not, the way back computes the round again, bit for bit. The loss
// of a save point is computed for all lanes of a tile at once, when they are at their ends. A lane that has ended makes
// room for the next one; the log says who had a place in a round, and the way back gives it to them in turn. Lanes then
// hand out what they have got in their order, whatever the rounds in which they did.

#include <cmath>
#include <eddy/checkpoint/checkpointed_loop.hpp>
#include <eddy/solve/group/gradient_memory.hpp>
#include <eddy/solve/lane/gradient_recorder.hpp>
#include <span>
#include <vector>
#include "row_log.hpp"
#include "row_solve.hpp"
#include "row_times.hpp"

namespace eddy::inline v0::detail {

/// Numbers as aligned as rows.
template <class Real>
struct alignas(64) RowNumbers {
    static constexpr std::int64_t size = 64 / sizeof(Real);
    Real number[size];
};
/// The states of a tile's lanes, (component, lane), and, behind the end of the log, their clocks.
template <class Real>
struct RowState {
    std::vector<RowNumbers<Real>> numbers;
    std::vector<std::byte> clocks;

    [[nodiscard]] Real* y() { return numbers.data()->number; }
    [[nodiscard]] const Real* y() const { return numbers.data()->number; }
};

/// What save points are made of: a loss, or cotangents that are given.
template <class Real>
struct RowObjective {
    FieldOnTileOf<Real>* loss = nullptr;  // the loss of (t, y, p and data); null: cotangents
    std::span<const EnsembleView<const Real>> arrays;  // (save point): data or cotangents
    EnsembleView<Real> of_lane{};                      // (lane, 1): the losses
    RowLosses<Real>* by_lane = nullptr;                // in the place of all of these
    bool has_report = loss != nullptr;  // is told of lanes whose derivative is not finite?
};

template <class Real>
class RowGradient final : RowRecorder<Real> {
  public:
    using State = RowState<Real>;

    RowGradient(const RowProblem<Real>& problem, FieldOnTileOf<Real>& field,
                const RowObjective<Real>& objective, const GradientPlan& plan, Arena& arena);

    /// What a call has of its own: arrays, and parameters that lanes share as numbers.
    void take_call(const RowObjective<Real>& objective) {
        objective_ = objective;
        step_->take_parameters();
        if (problem_->sums_tile && loss_p_) step_->copy_parameters(loss_p_);
    }
    /// Do lanes begin in place of others? What is kept of them in a place would have to be a lane's.
    [[nodiscard]] static bool refills(const RowProblem<Real>& problem, bool by_lane) {
        return !by_lane && !problem.sums_tile && !problem.prescribed && problem.input_room == 0 &&
               problem.times.num_impulses == 0 && !problem.differentiates_times;
    }
    /// The lanes that a run has room for, and those that the next one should be given: a tile, or more of them where the
    /// lanes of the last one differed much.
    [[nodiscard]] std::int64_t most_lanes() const {
        return std::int64_t{num_tiles_} * step_->width();
    }
    [[nodiscard]] std::int64_t lanes_at_once() const {
        return refills_ ? most_lanes() : step_->width();
    }
    /// The gradient of `count` lanes from `first` on, or of as many as there is room for, added to the target; tells how
    /// many. `shared`: the sums of their block, or parts of each lane, of parameters that are shared.
    template <class Loop>
    [[nodiscard]] std::int32_t run(Loop& loop, ThreadTeam<1>& team, std::ptrdiff_t first,
                                   std::int32_t count, const GradientTarget<Real>& target,
                                   const SharedTarget<Real>& shared, LaneOutcome* outcomes) {
        target_ = target;
        begin(team, first, count, outcomes);
        loop.body().gradient = this;
        loop.run(start_, [&](const RowState<Real>&, std::int64_t) { return !solve_.is_done(); });
        count_ = solve_.num_begun();
        learn(outcomes);
        measure_losses(outcomes);
        begin_back(outcomes);
        static_cast<void>(loop.reverse(0));
        if (leave_out_infinite(outcomes)) {
            // Sums have taken up what those lanes brought: once more without them, by the log.
            loop.run(start_, [&](const RowState<Real>&, std::int64_t round) {
                return round < num_rounds_;
            });
            begin_back(outcomes);
            static_cast<void>(loop.reverse(0));
        }
        hand_out(shared, outcomes);
        return count_;
    }
    [[nodiscard]] std::int64_t replayed_rounds() const { return replayed_; }
    /// Bytes that the rounds of the last tile have written, of those planned for them.
    [[nodiscard]] std::int64_t planned_bytes() const { return planned_bytes_; }
    [[nodiscard]] std::int64_t used_bytes() const;
    [[nodiscard]] std::int64_t bytes_of_state() const;
    /// Bytes of a round, and of a slot of the loop.
    [[nodiscard]] static std::int64_t kept_bytes(int num_states, int num_residuals,
                                                 const MethodOnRows& method, int width);
    [[nodiscard]] static std::int64_t bytes_of_slot(int num_states, int width, bool with_clocks,
                                                    int num_events = 0);

    // What the checkpointed loop repeats.

    /// A round: the first time an attempt, then the steps that the log has of it, or the attempt again.
    void advance(RowState<Real>& x, std::int64_t round);
    void pull(const RowState<Real>& x, std::int64_t round);

  private:
    [[nodiscard]] bool save(std::ptrdiff_t lane, int place, std::int32_t k,
                            const Real* state) override;
    [[nodiscard]] bool save_event(std::ptrdiff_t lane, int place, double t,
                                  const Real* state) override {
        end_time_[place] = t;
        return save(lane, place, 0, state);
    }
    [[nodiscard]] Result not_finite() const override;
    void begin(ThreadTeam<1>& team, std::ptrdiff_t first, std::int32_t count,
               LaneOutcome* outcomes);
    void begin_back(LaneOutcome* outcomes);
    void hand_out(const SharedTarget<Real>& shared, LaneOutcome* outcomes);
    void begin_inputs();
    void leave_tstops();
    void leave_tstop(int place);
    [[nodiscard]] bool begin_times(const RowState<Real>& x, std::int64_t round);
    void add_time_of_save(int place, std::int32_t k);
    void hand_out_inputs(int place);
    void make_round(RowState<Real>& x, std::int64_t round);
    void carry_clocks(RowState<Real>& x);
    void restore_clocks(const RowState<Real>& x);
    void log_round(LoggedStep* row);
    void learn(const LaneOutcome* outcomes);
    void change_lanes(std::int64_t round, Real* y);
    void take_back(int place, std::int32_t lane);
    void leave_back(int place);
    void attempt_again(const Real* y, Real* kept, LoggedStep* row);
    void take_steps(const LoggedStep* row);
    [[nodiscard]] bool choose_stepped(bool if_alive);
    bool choose_lanes(const auto& is_chosen);
    [[nodiscard]] bool lands(const LoggedStep& step, const LaneTimes& times) const {
        return step.size > 0 && step.after == times.tstops[step.tstop].elapsed && !step.ends_lane;
    }
    [[nodiscard]] double time_of_save(int place, std::int32_t k) const {
        const LaneTimes times = problem_->times_of(first_ + place);
        return ends_at_event(place) ? end_time_[place] : times.save_time[k];
    }
    /// Is the event that a lane ended at its only save point?
    [[nodiscard]] bool ends_at_event(int place) const {
        return problem_->events && !std::isnan(end_time_[place]);
    }
    [[nodiscard]] RowSums<Real> sums_of(int place) const {
        if (problem_->sums_tile) return {of_p_, 1};
        return {of_p_ + place, step_->width()};
    }
    void meet_events(Real* y);
    [[nodiscard]] bool has_events() const;
    void pull_events(const Real* y, std::int64_t round, bool is_dense);
    void pull_jump_of(int place);
    void clear_size_of(int place);
    void meet_impulses(Real* y);
    [[nodiscard]] bool add_saves();
    void add_to_cotangent(int place);
    void put_column(int place, Real* rows) const;
    void pull_start(int place);
    void add_saves_at_start(int place);
    void seed_save(int place, std::int32_t k);
    void add_dense(int place, const Real* seed, double theta);
    void linearize(int count, const RowState<Real>& x, std::int64_t round);
    void measure_losses(LaneOutcome* outcomes);
    void seed_losses();
    void seed_cotangents();
    void seed_losses_at(int tile, std::int32_t k);
    void load_loss(int tile, std::int32_t k);
    [[nodiscard]] Real* data_of_loss() const;
    [[nodiscard]] bool leave_out_infinite(LaneOutcome* outcomes);

    [[nodiscard]] int num_dense() const { return problem_->method->num_dense; }
    [[nodiscard]] std::int64_t block() const {
        return std::int64_t{problem_->state_size} * step_->width();
    }
    /// Of the lanes of a run, as many as a tile has places.
    [[nodiscard]] Real* saved(std::int64_t tile, std::int32_t k) const {
        return saved_ + (tile * problem_->times.num_saves + k) * block();
    }
    [[nodiscard]] Real* seeds(std::int64_t tile, std::int32_t k) const {
        return seeds_ + (tile * problem_->times.num_saves + k) * block();
    }
    [[nodiscard]] int tile_of_lane(std::int32_t lane) const { return lane / step_->width(); }
    [[nodiscard]] int place_in_tile(std::int32_t lane) const { return lane % step_->width(); }
    /// The column of a lane in (tile, row, place).
    [[nodiscard]] Real* column_of(Real* rows, std::int64_t num_rows, std::int32_t lane) const {
        return rows + tile_of_lane(lane) * num_rows * step_->width() + place_in_tile(lane);
    }
    void copy_column(const Real* from, Real* to, std::int64_t num_rows) const {
        for (std::int64_t i = 0; i < num_rows; ++i)
            to[i * step_->width()] = from[i * step_->width()];
    }
    [[nodiscard]] bool is_alive(int place) const { return is_alive_[back_[place]]; }
    /// Cotangents of parameters that a lane has of its own.
    [[nodiscard]] int num_own_p() const {
        return problem_->sums_tile ? 0 : problem_->parameter_size;
    }
    [[nodiscard]] Real* kept_of(std::int64_t round) const {
        return kept_ + round % num_kept_ * kept_size_;
    }
    [[nodiscard]] bool is_kept(std::int64_t round) const {
        return round_kept_[round % num_kept_] == round;
    }

    const RowProblem<Real>* problem_;
    RowObjective<Real> objective_;
    RowSolve<Real> solve_;
    RowStep<Real>* step_;
    RowTimes<Real> times_;
    std::int32_t num_tiles_;  // of lanes that a run takes
    bool refills_ = false;    // do lanes begin in place of others?
    std::int64_t planned_bytes_;
    RowLog log_;
    std::int64_t num_kept_, kept_size_;  // rounds, numbers of a round
    Real* kept_;                         // (kept round, stage, row, lane)
    std::int64_t* round_kept_;           // (kept round)

    Real *cotangent_, *pulled_, *dense_of_y_;
    Real* dense_of_k_[MethodOnRows::most_stages] = {};
    Real* of_inputs_;  // (number of a piece, place)
    Real *of_p_, *of_step_, *saved_, *seeds_, *chosen_;
    Real *got_,
        *got_p_;  // (tile, row, place) what lanes have got; of one tile the same as cotangent_ and of_p_
    Real *loss_p_ = nullptr, *loss_of_p_ = nullptr, *loss_value_ = nullptr;
    Real *loss_kept_ = nullptr, *loss_c_ = nullptr, *loss_t_ = nullptr, *loss_of_t_ = nullptr;
    Real *column_, *state_;  // (component)
    // Of rounds with events: the derivatives of their functions by y; parameters that nobody asks for; times of the step,
    // and sizes by what the state brings and by those functions.
    Real *root_ = nullptr, *unwanted_ = nullptr, *still_ = nullptr;
    Real *of_size_ = nullptr, *of_root_ = nullptr;
    double* end_time_ = nullptr;  // (place) of an event that is the only save point, or NaN
    std::int32_t *saves_left_, *num_saved_;  // (lane)
    std::int32_t* back_;                     // (place) the lane that goes back there
    std::int32_t* pulled_tstops_;  // that the steps head for which were pulled back last; −1: none
    int* lanes_;                   // that take part in a round, in order
    int num_taking_part_ = 0;
    bool* is_alive_;  // (lane)

    RowState<Real> start_;
    std::vector<std::byte> after_log_;
    GradientTarget<Real> target_{};
    ThreadTeam<1>* team_ = nullptr;
    std::ptrdiff_t first_ = 0;
    std::int32_t count_ = 0;
    const LoggedStep* steps_ = nullptr;  // of the round at hand, (lane)
    std::int64_t num_rounds_ = 0, replayed_ = 0;
};

}  // namespace eddy::inline v0::detail
