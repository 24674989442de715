#include "row_replay.hpp"
#include <algorithm>

namespace eddy::inline v0::detail {

template <class Real>
RowReplay<Real>::RowReplay(const RowProblem<Real>& problem, FieldOnTileOf<Real>& field,
                           RowRun<Real>& run, Arena& arena)
    : problem_(&problem), run_(&run), solve_(problem, field, true, arena), step_(&solve_.step()) {
    step_->impulses().keep(run.most_lanes(), arena);
    for (Real** column : {&before_, &behind_}) *column = arena.take<Real>(problem.state_size);
}
template <class Real>
void RowReplay<Real>::reserve(const GradientPlan& plan, Arena& arena) {
    const auto before = static_cast<std::int64_t>(arena.num_bytes());
    const int width = step_->width();
    num_kept_ = step_->keeps_stages() ? plan.slots : 1;
    kept_size_ = std::int64_t{problem_->method->num_kept()} * step_->rows_per_stage() * width;
    round_kept_ = arena.take<std::int64_t>(num_kept_);
    kept_ = arena.take<Real>(num_kept_ * kept_size_);
    log_ = {plan.logged_rounds * width, num_kept_ * width, width, arena};
    planned_bytes_ = static_cast<std::int64_t>(arena.num_bytes()) - before;
}

template <class Real>
std::int64_t RowReplay<Real>::used_bytes() const {
    const std::int64_t rounds = std::min(num_rounds_, num_kept_);
    return rounds * kept_size_ * std::int64_t{sizeof(Real)} +
           num_kept_ * std::int64_t{sizeof(std::int64_t)} + log_.bytes_of(num_rounds_) +
           step_->width() * std::int64_t{sizeof(LoggedStep)};
}

template <class Real>
void RowReplay<Real>::begin(ThreadTeam<1>& team, RowRecorder<Real>& recorder,
                            LaneOutcome* outcomes) {
    team_ = &team;
    num_rounds_ = replayed_ = 0;
    log_.begin(step_->width(), num_kept_);
    // Lanes begin as long as there is room for what their rounds keep.
    solve_.refill_until(step_->keeps_stages() ? std::min(log_.num_first(), num_kept_)
                                              : log_.num_first());
    constexpr std::int64_t line = RowNumbers<Real>::size;
    start_.numbers.resize(static_cast<std::size_t>((run_->block() + line - 1) / line));
    solve_.begin(run_->first(), run_->count(), recorder, outcomes, start_.y());
    start_.clocks.clear();
    carry_clocks(start_);
}
template <class Real>
void RowReplay<Real>::advance(RowState<Real>& x, std::int64_t round) {
    if (round == num_rounds_) return make_round(x, round);
    ++replayed_;
    Real* y = x.y();
    if (round >= log_.num_first()) {
        attempt_again(x, nullptr, log_.spare());
        step_->accept(y, solve_.clocks(), false);
        solve_.settle_again(round + 1, y);
        solve_.copy_clocks(x.clocks);
        return;
    }
    take_steps(round);
    step_->stages(0, problem_->method->num_needed, y, solve_.clocks(), nullptr);
    step_->next_state(y, step_->work());
    if (run_->choose_stepped(false))
        step_->kernels().choose_rows(y, step_->work(), step_->shape(), run_->chosen());
    if (problem_->events) meet_events(y);
    if (problem_->times.num_impulses > 0) meet_impulses(y);
    change_lanes(round, y);
    if (round + 1 == log_.num_first()) x.clocks = after_log_;
}
/// The lanes that met an event in the round at hand go on behind it.
template <class Real>
void RowReplay<Real>::meet_events(Real* y) {
    for (int place = 0; place < run_->num_places(); ++place) {
        const LoggedStep& step = run_->step(place);
        if (!step.meets_event() || step.ends_lane) continue;
        step_->state_of(place, y, before_);
        solve_.events()->state_after(step.event, run_->first() + step.lane,
                                     solve_.clocks().rows().last[place], before_, behind_);
        step_->put_state(place, behind_, y);
    }
}
/// Lanes that began behind a round in place of others.
template <class Real>
void RowReplay<Real>::change_lanes(std::int64_t round, Real* y) {
    if (run_->num_tiles() == 1 || round + 1 >= std::min(num_rounds_, log_.num_first())) return;
    const LoggedStep* const next = log_.row(round + 1);
    for (int place = 0; place < step_->width(); ++place)
        if (next[place].lane != run_->step(place).lane)
            step_->load(place, run_->first() + next[place].lane, y);
}
/// The lanes that landed in the round at hand go on behind the impulses there.
template <class Real>
void RowReplay<Real>::meet_impulses(Real* y) {
    for (int place = 0; place < run_->num_places(); ++place) {
        const LoggedStep& step = run_->step(place);
        const std::ptrdiff_t lane = run_->first() + step.lane;
        const LaneTimes times = problem_->times_of(lane);
        if (run_->lands(step, times) && !times.is_end(step.tstop))
            step_->impulses().meet(lane, times, times.tstops[step.tstop].impulses, y + place,
                                   step_->width());
    }
}
template <class Real>
void RowReplay<Real>::make_round(RowState<Real>& x, std::int64_t round) {
    Real* y = x.y();
    const bool keeps = step_->keeps_stages();
    solve_.round(y, keeps ? kept_of(round) : nullptr, false, *team_);
    round_kept_[round % num_kept_] = keeps ? round : -1;
    log_round(log_.row(round));
    solve_.go_on(y);
    ++num_rounds_;
    carry_clocks(x);
}
/// A row of the log: what lanes have done.
template <class Real>
void RowReplay<Real>::log_round(LoggedStep* row) {
    const row_kernels::Clocks& rows = solve_.clocks().rows();
    for (int place = 0; place < step_->width(); ++place) {
        run_->begin_lane(solve_.begun(place), solve_.first_round(place));
        row[place] = {rows.before[place], rows.elapsed[place],
                      rows.used[place] > 0 ? rows.tried[place] : 0, solve_.clocks().tstop(place),
                      static_cast<std::int16_t>(solve_.begun(place))};
        if (const RowEvents<Real>* const events = solve_.events()) {
            row[place].event = events->met(place);
            row[place].ends_lane = events->ends_lane(place);
        }
    }
}
/// Carries the clocks of its lanes in a state behind the end of the log.
template <class Real>
void RowReplay<Real>::carry_clocks(RowState<Real>& x) {
    if (num_rounds_ == 0) after_log_.clear();
    if (num_rounds_ < log_.num_first()) return;
    solve_.copy_clocks(x.clocks);
    if (num_rounds_ == log_.num_first()) after_log_ = x.clocks;
}
/// The attempt of a round that is not in the log, from the clocks before it.
template <class Real>
void RowReplay<Real>::attempt_again(const RowState<Real>& x, Real* kept, LoggedStep* row) {
    solve_.restore_clocks(x.clocks.data());
    static_cast<void>(solve_.attempt_once(x.y(), kept));
    log_round(row);
}
template <class Real>
void RowReplay<Real>::take_steps(std::int64_t round) {
    run_->take_steps(log_.row(round));
    solve_.take_steps(log_.row(round));
}

template <class Real>
void RowReplay<Real>::know_steps(const RowState<Real>& x, std::int64_t round) {
    if (round >= log_.num_first() && !is_kept(round)) {
        attempt_again(x, kept_of(round), log_.row(round));
        round_kept_[round % num_kept_] = round;
        ++replayed_;
    }
    take_steps(round);
}
template <class Real>
void RowReplay<Real>::linearize(int count, const RowState<Real>& x, std::int64_t round) {
    step_->stages(0, count, x.y(), solve_.clocks(), kept_of(round));
    round_kept_[round % num_kept_] = round;
    ++replayed_;
}

template class RowReplay<double>;
template class RowReplay<float>;

}  // namespace eddy::inline v0::detail
