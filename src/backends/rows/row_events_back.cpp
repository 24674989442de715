#include "row_events_back.hpp"
#include <algorithm>

namespace eddy::inline v0::detail {

template <class Real>
RowEventsBack<Real>::RowEventsBack(const RowProblem<Real>& problem, RowRun<Real>& run,
                                   RowReplay<Real>& replay, RowCotangents<Real>& cotangents,
                                   RowTimes<Real>& times, Arena& arena)
    : problem_(&problem),
      run_(&run),
      replay_(&replay),
      step_(&replay.step()),
      cotangents_(&cotangents),
      times_(&times) {
    if (!problem.events) return;
    root_ = arena.take<Real>(run.block());
    unwanted_ = arena.take<Real>(problem.size_of_reads(run.width()));
    for (Real** row : {&still_, &of_size_, &of_root_}) *row = arena.take<Real>(run.width());
    for (Real** column : {&state_, &column_}) *column = arena.take<Real>(problem.state_size);
}

template <class Real>
bool RowEventsBack<Real>::are_met() const {
    for (int place = 0; problem_->events && place < run_->num_places(); ++place)
        if (run_->step(place).meets_event() && run_->is_alive(place)) return true;
    return false;
}
template <class Real>
void RowEventsBack<Real>::for_events(const auto& visit) const {
    for (int i = 0; i < run_->num_taking_part(); ++i)
        if (run_->step(run_->taking_part()[i]).meets_event()) visit(run_->taking_part()[i]);
}
template <class Real>
void RowEventsBack<Real>::pull_jumps(const Real* y) {
    step_->next_state(y, step_->work());
    std::fill_n(root_, run_->block(), Real(0));
    for_events([&](int place) { pull_jump_of(place); });
}
template <class Real>
void RowEventsBack<Real>::clear_sizes(std::int64_t round, bool is_dense) {
    const auto pull = [&](const Real* next, bool dense, Real* sizes) {
        const int count = dense ? problem_->method->num_dense : problem_->method->num_needed;
        std::fill_n(unwanted_, problem_->size_of_reads(step_->width()), Real(0));
        step_->sum_over(run_->taking_part(), run_->num_taking_part(), count);
        const RowTimeCotangents<Real> of_times{still_, sizes};
        step_->pull(count, replay_->clocks(), replay_->kept_of(round),
                    dense ? cotangents_->dense_of_k : nullptr, next, cotangents_->pulled, unwanted_,
                    of_times);
    };
    std::fill_n(still_, step_->width(), Real(0));
    std::fill_n(of_root_, step_->width(), Real(0));
    for (int place = 0; place < step_->width(); ++place) of_size_[place] = times_->size(place);
    pull(cotangents_->of_state, is_dense, of_size_);
    pull(root_, false, of_root_);
    for_events([&](int place) { clear_size_of(place); });
}
template <class Real>
void RowEventsBack<Real>::pull_jump_of(int place) {
    RowEvents<Real>& events = *replay_->solve().events();
    const LoggedStep& step = run_->step(place);
    const double t = replay_->clocks().rows().last[place];
    step_->state_of(place, step_->work(), state_);
    step_->state_of(place, cotangents_->of_state, column_);
    times_->shift(run_->back(place)) += events.pull_jump(step.event, run_->lane(place), t, state_,
                                                         column_, cotangents_->sums_of(place));
    step_->put_state(place, column_, cotangents_->of_state);
    static_cast<void>(events.derivatives(step.event, run_->lane(place), t, state_));
    step_->put_state(place, events.by_y(), root_);
}
template <class Real>
void RowEventsBack<Real>::clear_size_of(int place) {
    RowEvents<Real>& events = *replay_->solve().events();
    step_->state_of(place, step_->work(), state_);
    const Real by_t = events.derivatives(run_->step(place).event, run_->lane(place),
                                         replay_->clocks().rows().last[place], state_);
    const Real of_size = times_->shift(run_->back(place)) + of_size_[place];
    if (of_size != 0) {
        // Without a slope there is none: what is infinite becomes no number.
        Real factor = -of_size / (by_t + of_root_[place]);
        factor += factor - factor;
        const RowSums<Real> of_p = cotangents_->sums_of(place);
        for (int c = 0; c < problem_->state_size; ++c)
            cotangents_->of_state[c * step_->width() + place] += factor * events.by_y()[c];
        for (int i = 0; i < problem_->parameter_size; ++i) of_p.add(i, factor * events.by_p()[i]);
        times_->shift(run_->back(place)) += factor * by_t;
    }
    times_->size(place) += times_->shift(run_->back(place));
}

template class RowEventsBack<double>;
template class RowEventsBack<float>;

}  // namespace eddy::inline v0::detail
