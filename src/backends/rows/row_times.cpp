#include "row_times.hpp"
#include <algorithm>
#include <cmath>

namespace eddy::inline v0::detail {
namespace {

template <class Real>
Real dot_of(int size, const Real* a, const Real* b) {
    Real sum = 0;
    for (int c = 0; c < size; ++c) sum += a[c] * b[c];
    return sum;
}

}  // namespace

template <class Real>
RowTimes<Real>::RowTimes(const RowProblem<Real>& problem, const RowRun<Real>& run,
                         RowStep<Real>& step, Arena& arena)
    : problem_(&problem), run_(&run), step_(&step) {
    const bool asked = problem.differentiates_times;
    shifts_ = arena.take<Real>(asked ? run.most_lanes() : 0);
    for (Real** row : {&t_, &dt_}) *row = arena.take<Real>(asked ? run.width() : 0);
    for (Real** column : {&slope_, &start_})
        *column = arena.take<Real>(asked ? problem.state_size : 0);
}

template <class Real>
void RowTimes<Real>::begin(const GradientTarget<Real>& target) {
    if (!are_asked()) return;
    target_ = target;
    std::fill_n(shifts_, run_->count(), Real(0));
}

template <class Real>
void RowTimes<Real>::begin_round(bool needs_sizes) {
    std::fill_n(t_, step_->width(), Real(0));
    std::fill_n(dt_, step_->width(), Real(0));
    of_round_ = {t_, needs_sizes ? dt_ : nullptr};
}
template <class Real>
void RowTimes<Real>::add_save(int place, const LoggedStep& step, std::int32_t k, const Real* seed,
                              const Real* state) {
    const LaneTimes of_lane = times(place);
    const double at = of_lane.saves[k];
    const Tstop& tstop = of_lane.tstops[step.tstop];
    const bool is_tstop = at == step.after && at == tstop.elapsed && !step.ends_lane;
    const double theta = at == step.after ? 1 : (at - step.before) / step.size;
    Real along = 0, moved = 0;
    if (is_tstop && is_behind_impulses(of_lane, step.tstop, k)) {
        const std::int32_t next = of_lane.is_end(step.tstop) ? step.tstop : step.tstop + 1;
        along = along_slope(place, seed, state, of_lane.tstops[next].confine(of_lane.save_time[k]),
                            next);
    } else {
        step_->dense_cotangents(place, theta, seed, along, moved);
    }
    if (!of_lane.saves_the_end || (is_tstop && !tstop.impulses.is_empty())) {
        add_save_time(run_->back(place), k, along);
        if (is_tstop) add_tstop(place, step.tstop + 1, -along);
    }
    if (is_tstop) return;
    t_[place] -= along;
    dt_[place] += moved - static_cast<Real>(theta) * along;
}
template <class Real>
void RowTimes<Real>::add_step(int place, const LoggedStep& step) {
    shift(run_->back(place)) += t_[place];
    if (!has_landing_size(step, times(place))) return;
    add_tstop(place, step.tstop + 1, dt_[place]);
    shift(run_->back(place)) -= dt_[place];
}
template <class Real>
void RowTimes<Real>::leave_tstop(int place, std::int32_t tstop) {
    add_tstop(place, tstop, shift(run_->back(place)));
    shift(run_->back(place)) = 0;
}

template <class Real>
Real RowTimes<Real>::along_slope(int place, const Real* seed, const Real* state, double t,
                                 std::int32_t tstop) {
    step_->slope_of(place, run_->lane(place), tstop, t, state, slope_);
    return dot_of(problem_->state_size, seed, slope_);
}
template <class Real>
void RowTimes<Real>::add_start_save(int place, std::int32_t k, const Real* seed) {
    const LaneTimes of_lane = times(place);
    const bool is_before = of_lane.saves_before_impulses;
    step_->start_of(run_->lane(place), start_);
    if (!is_before)
        step_->impulses().meet(run_->lane(place), of_lane, of_lane.impulses_at_start(), start_, 1);
    const Real along = along_slope(place, seed, start_, of_lane.tstops[0].confine(of_lane.t0), 0);
    add_save_time(run_->back(place), k, along);
    if (is_before)
        target_.add(target_.t0, run_->lane(place), 0, -along);
    else
        add_tstop(place, 0, -along);
}
template <class Real>
void RowTimes<Real>::add_impulses_at_start(int place, const Real* cotangent) {
    const LaneTimes of_lane = times(place);
    if (of_lane.impulses_at_start().is_empty()) return;
    step_->start_of(run_->lane(place), start_);
    const Real along =
        along_slope(place, cotangent, start_, of_lane.tstops[0].confine(of_lane.t0), 0);
    target_.add(target_.impulse_times, run_->lane(place), 0, along);
    target_.add(target_.t0, run_->lane(place), 0, -along);
}

template class RowTimes<double>;
template class RowTimes<float>;

}  // namespace eddy::inline v0::detail
