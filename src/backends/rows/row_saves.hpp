#pragma once
// What the save points of a run give: losses on the way forward, cotangents of states on the way back. States are kept
// until all lanes of a run are at their ends; the loss of a save point is then computed for all lanes of a tile at once.

#include <cmath>
#include <eddy/backends/rows/row_recorder.hpp>
#include <eddy/solve/call/call_link.hpp>
#include <eddy/solve/lane/gradient_mark.hpp>
#include <span>
#include "row_run.hpp"
#include "row_times.hpp"

namespace eddy::inline v0::detail {

/// What save points are made of: a loss, or cotangents that are given.
template <class Real>
struct RowObjective {
    FieldOnTileOf<Real>* loss = nullptr;  // the loss of (t, y, p and data); null: cotangents
    std::span<const EnsembleView<const Real>> arrays;  // (save point): data or cotangents
    EnsembleView<Real> of_lane{};                      // (lane, 1): the losses
    RowLosses<Real>* by_lane = nullptr;                // in the place of all of these
    bool has_report = loss != nullptr;  // is told of lanes whose derivative is not finite?
    GradientMark* marks = nullptr;      // (lane) of a problem that is watched
    bool leaves_out_marked = false;     // do marked lanes bring nothing to shared parameters?
};

template <class Real>
class RowSaves final : public RowRecorder<Real> {
  public:
    RowSaves(const RowProblem<Real>& problem, const RowObjective<Real>& objective,
             RowRun<Real>& run, RowStep<Real>& step, Arena& arena);

    /// What a call has of its own: arrays, and parameters that lanes share as numbers.
    void take_call(const RowObjective<Real>& objective) {
        objective_ = objective;
        if (problem_->sums_tile && loss_p_) step_->copy_parameters(loss_p_);
    }
    void begin();
    [[nodiscard]] bool save(std::ptrdiff_t lane, int place, std::int32_t k,
                            const Real* state) override;
    [[nodiscard]] bool save_event(std::ptrdiff_t lane, int place, double t,
                                  const Real* state) override {
        end_time_[lane - run_->first()] = t;
        return save(lane, place, 0, state);
    }
    [[nodiscard]] Result not_finite() const override;
    /// The values of the losses, and which lanes fail by them.
    void measure(LaneOutcome* outcomes, CallLink& call);

    // The way back.

    /// The cotangents of all save points, and what losses ask of times and of parameters: `of_p`, (tile, row, place).
    void seed(RowTimes<Real>& times, Real* of_p);
    /// Save points that a lane has passed.
    [[nodiscard]] std::int32_t num_saved(std::int32_t lane) const { return num_saved_[lane]; }
    /// The cotangent of a save point of the lane that goes back in a place, as a column.
    void seed_of(int place, std::int32_t k, Real* column, const RowSums<Real>& of_p) const;
    /// The state there.
    void state_of(int place, std::int32_t k, Real* state) const;
    /// Is the event that a lane ended at its only save point?
    [[nodiscard]] bool ends_at_event(std::int32_t lane) const {
        return problem_->events && !std::isnan(end_time_[lane]);
    }

  private:
    void load_loss(int tile, std::int32_t k);
    void seed_losses(RowTimes<Real>& times, Real* of_p);
    void seed_losses_at(int tile, std::int32_t k, RowTimes<Real>& times, Real* of_p);
    void seed_cotangents();
    [[nodiscard]] Real* data_of_loss() const {
        return loss_p_ + problem_->behind_parameters(step_->width());
    }
    [[nodiscard]] double time_of(std::int32_t lane, std::int32_t k) const {
        const LaneTimes times = problem_->times_of(run_->first() + lane);
        return ends_at_event(lane) ? end_time_[lane] : times.save_time[k];
    }
    /// Of the lanes of a run, as many as a tile has places.
    [[nodiscard]] Real* saved(std::int64_t tile, std::int32_t k) const {
        return saved_ + (tile * problem_->times.num_saves + k) * run_->block();
    }
    [[nodiscard]] Real* seeds(std::int64_t tile, std::int32_t k) const {
        return seeds_ + (tile * problem_->times.num_saves + k) * run_->block();
    }

    const RowProblem<Real>* problem_;
    RowObjective<Real> objective_;
    RowRun<Real>* run_;
    RowStep<Real>* step_;
    Real *saved_, *seeds_;        // (tile, save point, component, place)
    std::int32_t* num_saved_;     // (lane)
    double* end_time_ = nullptr;  // (lane) of an event that is the only save point, or NaN
    Real *loss_p_ = nullptr, *loss_of_p_ = nullptr, *loss_value_ = nullptr;
    Real *loss_kept_ = nullptr, *loss_c_ = nullptr, *loss_t_ = nullptr, *loss_of_t_ = nullptr;
    Real* column_;  // (component)
};

}  // namespace eddy::inline v0::detail
