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
RowTimes<Real>::RowTimes(const RowProblem<Real>& problem, RowStep<Real>& step, Arena& arena)
    : problem_(&problem), step_(&step) {
    const bool asked = problem.differentiates_times;
    for (Real** row : {&shifts_, &t_, &dt_}) *row = arena.take<Real>(asked ? step.width() : 0);
    for (Real** column : {&slope_, &start_})
        *column = arena.take<Real>(asked ? problem.state_size : 0);
}

template <class Real>
void RowTimes<Real>::begin(const GradientTarget<Real>& target, std::ptrdiff_t first,
                           std::int32_t count) {
    if (!are_asked()) return;
    target_ = target;
    first_ = first;
    std::fill_n(shifts_, step_->width(), Real(0));
    for (int place = 0; place < count; ++place) forget(place);
}
template <class Real>
template <class Use>
void RowTimes<Real>::for_each_number(int place, const Use& use) const {
    for (const auto& values : {target_.t0, target_.t1, target_.save_at, target_.impulse_times})
        for (std::ptrdiff_t k = 0; k < values.num_components; ++k) use(values(first_ + place, k));
}
template <class Real>
bool RowTimes<Real>::are_finite(int place) const {
    Real nothing = 0;
    if (are_asked()) for_each_number(place, [&](Real x) { nothing += x - x; });
    return nothing == 0;
}
template <class Real>
void RowTimes<Real>::forget(int place) const {
    if (are_asked()) for_each_number(place, [](Real& x) { x = 0; });
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
        add_save_time(place, k, along);
        if (is_tstop) add_tstop(place, step.tstop + 1, -along);
    }
    if (is_tstop) return;
    t_[place] -= along;
    dt_[place] += moved - static_cast<Real>(theta) * along;
}
template <class Real>
void RowTimes<Real>::add_step(int place, const LoggedStep& step) {
    shifts_[place] += t_[place];
    if (!lands(step, times(place))) return;
    add_tstop(place, step.tstop + 1, dt_[place]);
    shifts_[place] -= dt_[place];
}
template <class Real>
void RowTimes<Real>::leave_tstop(int place, std::int32_t tstop) {
    add_tstop(place, tstop, shifts_[place]);
    shifts_[place] = 0;
}

template <class Real>
Real RowTimes<Real>::along_slope(int place, const Real* seed, const Real* state, double t,
                                 std::int32_t tstop) {
    step_->slope_of(place, first_ + place, tstop, t, state, slope_);
    return dot_of(problem_->state_size, seed, slope_);
}
template <class Real>
void RowTimes<Real>::add_start_save(int place, std::int32_t k, const Real* seed) {
    const LaneTimes of_lane = times(place);
    const bool is_before = of_lane.saves_before_impulses;
    step_->start_of(first_ + place, start_);
    if (!is_before) step_->impulses().meet(place, of_lane, of_lane.impulses_at_start(), start_, 1);
    const Real along = along_slope(place, seed, start_, of_lane.tstops[0].confine(of_lane.t0), 0);
    add_save_time(place, k, along);
    if (is_before)
        target_.add(target_.t0, first_ + place, 0, -along);
    else
        add_tstop(place, 0, -along);
}
template <class Real>
void RowTimes<Real>::add_impulses_at_start(int place, const Real* cotangent) {
    const LaneTimes of_lane = times(place);
    if (of_lane.impulses_at_start().is_empty()) return;
    step_->start_of(first_ + place, start_);
    const Real along =
        along_slope(place, cotangent, start_, of_lane.tstops[0].confine(of_lane.t0), 0);
    target_.add(target_.impulse_times, first_ + place, 0, along);
    target_.add(target_.t0, first_ + place, 0, -along);
}

template class RowTimes<double>;
template class RowTimes<float>;

}  // namespace eddy::inline v0::detail
