#pragma once
// What the times of a tile's lanes get on the way back, where it is asked for: the rules are those of
// solve/group/time_cotangents.hpp, a lane at a time. Sizes of steps are data but for those that land.

#include <eddy/solve/lane/gradient_target.hpp>
#include "row_run.hpp"
#include "row_step.hpp"

namespace eddy::inline v0::detail {

template <class Real>
class RowTimes {
  public:
    RowTimes(const RowProblem<Real>& problem, const RowRun<Real>& run, RowStep<Real>& step,
             Arena& arena);

    [[nodiscard]] bool are_asked() const { return problem_->differentiates_times; }
    /// The way back of a run begins, with zeros in the target.
    void begin(const GradientTarget<Real>& target);
    /// Is it the size of a step that lands on its tstop?
    [[nodiscard]] static bool has_landing_size(const LoggedStep& step, const LaneTimes& times) {
        return step.size > 0 && step.size == times.tstops[step.tstop].elapsed - step.before;
    }

    // A round, whose stages have been computed where a lane lands in it or has a save point.

    /// `needs_sizes`: does a lane land?
    void begin_round(bool needs_sizes);
    /// Save point k moves along the slope of its step. `seed`: its cotangent; `state`: what was saved.
    void add_save(int place, const LoggedStep& step, std::int32_t k, const Real* seed,
                  const Real* state);
    /// Where the adjoint of the step adds to.
    [[nodiscard]] const RowTimeCotangents<Real>& of_round() const { return of_round_; }
    /// The step of a lane has been pulled back.
    void add_step(int place, const LoggedStep& step);
    /// All steps that head for a tstop have been: what they got by shifting belongs to the one before.
    void leave_tstop(int place, std::int32_t tstop);

    // The start

    void add_start_save(int place, std::int32_t k, const Real* seed);
    /// The impulses there move along f; `cotangent`: of the state before them.
    void add_impulses_at_start(int place, const Real* cotangent);

    /// What the loss of save point k reads of time.
    void add_save_time(std::int32_t lane, std::int32_t k, Real value) const {
        target_.add_save_time(problem_->times, run_->first() + lane, k, value);
    }
    // What events clear: the cotangent of the time from which a lane's steps go on, and that of the size of the step at
    // hand.
    [[nodiscard]] Real& shift(std::int32_t lane) { return shifts_[lane]; }
    [[nodiscard]] Real& size(int place) { return dt_[place]; }

  private:
    [[nodiscard]] LaneTimes times(int place) const { return problem_->times_of(run_->lane(place)); }
    void add_tstop(int place, std::int32_t tstop, Real value) const {
        target_.add_tstop(times(place), run_->lane(place), tstop, value);
    }
    /// seed · f in a state, at a time on the way to a tstop.
    [[nodiscard]] Real along_slope(int place, const Real* seed, const Real* state, double t,
                                   std::int32_t tstop);

    const RowProblem<Real>* problem_;
    const RowRun<Real>* run_;
    RowStep<Real>* step_;
    GradientTarget<Real> target_{};
    Real* shifts_;          // (lane) of the steps to a tstop
    Real *t_, *dt_;         // (place) of the round at hand
    Real *slope_, *start_;  // (component)
    RowTimeCotangents<Real> of_round_{};
};

}  // namespace eddy::inline v0::detail
