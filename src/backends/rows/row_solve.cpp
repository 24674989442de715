#include "row_solve.hpp"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace eddy::inline v0::detail {

template <class Real>
RowSolve<Real>::RowSolve(const RowProblem<Real>& problem, FieldOnTileOf<Real>& field,
                         bool goes_back, Arena& arena)
    : problem_(&problem), step_(problem, field, goes_back, arena), clocks_(field.width(), arena) {
    const int width = field.width();
    y_ = arena.take<Real>(std::int64_t{problem.state_size} * width);
    state_ = arena.take<Real>(problem.state_size);
    if (problem.events) events_ = std::make_unique<RowEvents<Real>>(problem, step_);
    sizes_ = arena.take<double>(RowClocks::num_places(width));
    num_saved_ = arena.take<std::int32_t>(width);
    lane_ = arena.take<std::int32_t>(width);
    begun_ = arena.take<std::int32_t>(width);
    first_round_ = arena.take<std::int64_t>(width);
    attempts_ = arena.take<std::int64_t>(width);
    iterations_ = arena.take<std::int64_t>(width);
    goes_further_ = arena.take<bool>(width);
}

template <class Real>
void RowSolve<Real>::run(std::ptrdiff_t first, std::int32_t count, RowRecorder<Real>& recorder,
                         LaneOutcome* outcomes, ThreadTeam<1>& team) {
    begin(first, count, recorder, outcomes, y_);
    while (!is_done()) {
        round(y_, nullptr, true, team);
        go_on(y_);
    }
}

template <class Real>
void RowSolve<Real>::begin(std::ptrdiff_t first, std::int32_t count, RowRecorder<Real>& recorder,
                           LaneOutcome* outcomes, Real* y) {
    recorder_ = &recorder;
    outcomes_ = outcomes;
    first_ = first;
    count_ = count;
    round_ = 0;
    const int width = step_.width();
    next_lane_ = std::min(width, count);
    step_.impulses().begin(first);
    // The first sizes of lanes that wait, as many at once as a tile takes.
    first_sizes_.clear();
    for (std::int32_t lane = width; lane < count; lane += width) {
        for (int place = 0; place < width; ++place)
            step_.load(place, first + std::min(lane + place, count - 1), y);
        step_.choose_first_sizes(y, sizes_);
        first_sizes_.insert(first_sizes_.end(), sizes_, sizes_ + std::min(width, count - lane));
    }
    // Beyond the last lane, that lane again: numbers that the equation can take.
    for (int place = 0; place < width; ++place)
        step_.load(place, first + std::min(place, count - 1), y);
    step_.choose_first_sizes(y, sizes_);
    num_running_ = 0;
    for (int place = 0; place < width; ++place) {
        enter(place, std::min(place, count - 1), sizes_[place], y);
        const bool has_failed =
            problem_->prescribed && place < count && is_failure(outcomes[place].result);
        if (place < count && !has_failed) {
            ++num_running_;
            continue;
        }
        lane_[place] = no_lane;
        attempts_[place] = 0;
        clocks_.stop(place);
    }
    step_.renew();
    plan_limit();
}
template <class Real>
void RowSolve<Real>::enter(int place, std::int32_t lane, double first_size, Real* y) {
    lane_[place] = begun_[place] = lane;
    num_saved_[place] = 0;
    iterations_[place] = 0;
    first_round_[place] = round_;
    clocks_.begin(place, first_size, times(place), 0);
    if (events_) {
        step_.state_of(place, y, state_);
        place < count_ ? events_->begin(place, first_ + lane, state_) : events_->leave(place);
    }
    if (place >= count_ || !recorder_->wants_steps()) return;
    step_.state_of(place, y, state_);
    recorder_->save_step(first_ + lane, {times(place).t0}, state_);
}
template <class Real>
void RowSolve<Real>::plan_limit() {
    std::int64_t earliest = std::numeric_limits<std::int64_t>::max() - problem_->times.max_steps;
    for (int place = 0; place < step_.width(); ++place)
        if (lane_[place] != no_lane) earliest = std::min(earliest, first_round_[place]);
    limit_ = earliest + problem_->times.max_steps;
}

template <class Real>
void RowSolve<Real>::round(Real*& y, Real* kept, bool swapped, ThreadTeam<1>& team) {
    const bool is_rare = attempt_once(y, kept);
    take_verdicts(y, is_rare, swapped, team);
}
template <class Real>
bool RowSolve<Real>::attempt_once(const Real* y, Real* kept) {
    if (events_) events_->keep(clocks_);
    step_.attempt(y, clocks_, kept);
    const bool is_rare = step_.judge(y, clocks_);
    return events_ ? events_->look(clocks_) : is_rare;
}
template <class Real>
void RowSolve<Real>::take_verdicts(Real*& y, bool is_rare, bool swapped, ThreadTeam<1>& team) {
    ++round_;
    const bool goes_on = round_ % 4 != 1 || team.attend();
    const bool looks_at_all = !goes_on || round_ >= limit_ || recorder_->wants_steps();
    for (int place = 0; problem_->method->esdirk && place < step_.width(); ++place)
        iterations_[place] += step_.iterations(place);
    if (problem_->tangent_marks) watch_tangents();
    has_looked_ = is_rare || looks_at_all;
    if (has_looked_) {
        bool has_stages = false;
        for (int place = 0; place < step_.width(); ++place) {
            goes_further_[place] = false;
            const bool is_due = looks_at_all || clocks_.is_due(place) || meets_event(place);
            if (lane_[place] != no_lane && is_due) settle(place, y, has_stages, goes_on, team);
        }
    }
    step_.accept(y, clocks_, swapped);
}
template <class Real>
void RowSolve<Real>::begin_with(double first_size) {
    for (int place = 0; place < count_; ++place)
        if (is_running(place)) clocks_.set_size(place, first_size);
}
template <class Real>
void RowSolve<Real>::work_by(FieldOnTileOf<Real>& field, RowRecorder<Real>& recorder, bool counts) {
    step_.work_by(field);
    recorder_ = &recorder;
    counts_ = counts;
}
template <class Real>
void RowSolve<Real>::attempt(const Real* y, float* norms, float has_ended) {
    if (!is_done()) step_.attempt(y, clocks_, nullptr);
    const float* const of_lanes = is_done() ? nullptr : step_.measure_all(y);
    for (int place = 0; place < count_; ++place)
        norms[place] = is_running(place) ? of_lanes[place] : has_ended;
}
template <class Real>
void RowSolve<Real>::take_verdict(Real*& y, float of_all, const float* norms,
                                  double size_before_rejections, ThreadTeam<1>& team) {
    const bool is_rare = step_.judge_jointly(clocks_, of_all);
    for (int place = 0; is_rare && place < count_; ++place) {
        if (!is_running(place) || !clocks_.has_stalled(place)) continue;
        const bool is_to_blame =
            std::isnan(of_all) ? !std::isfinite(norms[place]) : norms[place] > 1;
        if (!is_to_blame) clocks_.forget_rejection(place, size_before_rejections);
    }
    take_verdicts(y, is_rare, true, team);
    go_on(y);
}
template <class Real>
void RowSolve<Real>::refill(Real* y) {
    bool any_begins = false;
    for (int place = 0; place < step_.width(); ++place) {
        if (lane_[place] != no_lane) {
            if (!jump(place, y) && !goes_further_[place]) continue;
            if (goes_further_[place])
                go_further(place, first_ + lane_[place], num_saved_[place], y);
        } else if (next_lane_ < count_ && round_ < last_refill_) {
            const std::int32_t lane = next_lane_++;
            step_.load(place, first_ + lane, y);
            const auto waited = static_cast<std::size_t>(lane - step_.width());
            enter(place, lane, first_sizes_[waited], y);
            ++num_running_;
        } else {
            clocks_.stop(place);
            continue;
        }
        any_begins = true;
    }
    if (any_begins) step_.renew();
    plan_limit();
}

template <class Real>
bool RowSolve<Real>::jump(int place, Real* y) const {
    if (!events_ || !events_->jumps(place)) return false;
    step_.put_state(place, events_->after(place), y);
    return true;
}
template <class Real>
void RowSolve<Real>::go_further(int place, std::ptrdiff_t lane, std::int32_t num_saved, Real* y) {
    const LaneTimes of_lane = problem_->times_of(lane);
    const std::int32_t tstop = clocks_.tstop(place);
    step_.impulses().meet(lane, of_lane, of_lane.tstops[tstop].impulses, y + place, step_.width());
    step_.load_inputs(place, lane, tstop + 1);
    clocks_.head_for(place, tstop + 1, of_lane, num_saved);
    if (!events_ || of_lane.tstops[tstop].impulses.is_empty()) return;
    step_.state_of(place, y, state_);
    events_->go_on(place, tstop + 1, state_);
}

template <class Real>
void RowSolve<Real>::state_at(int place, std::int32_t k, const Real* y, bool& has_stages) {
    const auto& rows = clocks_.rows();
    const LaneTimes of_lane = times(place);
    const double elapsed = of_lane.saves[k];
    if (elapsed == 0 && of_lane.saves_before_impulses) {
        return step_.start_of(first_ + lane_[place], state_);
    }
    if (elapsed <= rows.before[place]) return step_.state_of(place, y, state_);
    if (elapsed == rows.elapsed[place] && !ends_at_event(place)) {
        const std::int32_t tstop = clocks_.tstop(place);
        state_at_end(place);
        if (is_behind_impulses(of_lane, tstop, k))
            step_.impulses().meet(first_ + lane_[place], of_lane, of_lane.tstops[tstop].impulses,
                                  state_, 1);
        return;
    }
    if (!has_stages) step_.complete_stages(y, clocks_);
    has_stages = true;
    step_.state_within(place, y, (elapsed - rows.before[place]) / rows.tried[place], state_);
}
template <class Real>
void RowSolve<Real>::state_at_end(int place) {
    if (meets_event(place) && !events_->is_lost(place))
        std::copy_n(events_->after(place), step_.state_size(), state_);
    else
        step_.state_of(place, step_.next(), state_);
}
template <class Real>
bool RowSolve<Real>::pass_event(int place, LaneEnding& broken) {
    broken = {Result::non_finite, time(place), -1};
    if (events_->is_lost(place)) return false;
    events_->tell(place, time(place));
    if (!events_->ends_lane(place) || !problem_->times.saves_the_end || num_saved_[place] > 0)
        return true;
    state_at_end(place);
    for (broken.component = 0; broken.component < step_.state_size(); ++broken.component)
        if (!std::isfinite(state_[broken.component])) return false;
    broken = {recorder_->not_finite(), time(place), 0};
    ++num_saved_[place];
    return recorder_->save_event(first_ + lane_[place], place, time(place), state_);
}
template <class Real>
bool RowSolve<Real>::save_passed(int place, const Real* y, bool& has_stages, std::int32_t& broken) {
    const double elapsed = clocks_.rows().elapsed[place];
    const Tstop& tstop = times(place).tstops[clocks_.tstop(place)];
    const std::ptrdiff_t lane = first_ + lane_[place];
    if (clocks_.was_accepted(place) && recorder_->wants_steps()) {
        state_at_end(place);
        const row_kernels::Clocks& rows = clocks_.rows();
        recorder_->save_step(lane,
                             {elapsed == tstop.elapsed ? tstop.t : time(place), rows.before[place],
                              rows.tried[place]},
                             state_);
    }
    for (; num_saved_[place] < problem_->times.num_saves; ++num_saved_[place]) {
        const std::int32_t k = num_saved_[place];
        if (times(place).saves[k] > elapsed ||
            (problem_->times.saves_the_end && ends_at_event(place)))
            break;
        state_at(place, k, y, has_stages);
        for (broken = 0; broken < problem_->own_size(); ++broken)
            if (!std::isfinite(state_[broken])) return false;
        broken = -1;
        if (!recorder_->save(lane, place, k, state_)) return false;
    }
    return true;
}
/// What the round means for a lane.
template <class Real>
void RowSolve<Real>::settle(int place, const Real* y, bool& has_stages, bool goes_on,
                            ThreadTeam<1>& team) {
    std::int32_t broken = -1;
    const bool saved = save_passed(place, y, has_stages, broken);
    const std::int32_t tstop = clocks_.tstop(place);
    LaneEnding at_event{};
    const bool is_broken = saved && meets_event(place) && !pass_event(place, at_event);
    const std::int64_t attempts = round_ - first_round_[place];
    const bool lands = clocks_.rows().elapsed[place] == times(place).tstops[tstop].elapsed;
    const RoundFacts facts{.save_is_broken = !saved || is_broken,
                           .stalled = clocks_.has_stalled(place),
                           .lands = lands,
                           .cancelled = !goes_on,
                           .attempts = attempts,
                           .ends = ends_at_event(place)};
    const Verdict verdict = verdict_of(times(place), {0, tstop}, facts);
    goes_further_[place] = verdict.turn == Turn::to_next_tstop;
    if (verdict.turn == Turn::goes_on || goes_further_[place])
        return clocks_.expect(place, times(place), num_saved_[place]);
    const MethodOnRows& method = *problem_->method;
    LaneOutcome& outcome = outcomes_[lane_[place]];
    outcome =
        outcome_of(times(place), is_broken ? at_event : ending_of(place, verdict, y, broken),
                   attempts, static_cast<std::int64_t>(clocks_.rows().rejected[place]),
                   evaluations_of(times(place), attempts, tstop, method.evaluations_per_attempt(),
                                  method.evaluations_at_start()));
    outcome.evaluations += iterations_[place];
    if (events_) {
        outcome.evaluations += events_->evaluations(place);
        events_->leave(place);
    }
    if (counts_) team.ended(outcome);
    attempts_[place] = attempts;
    lane_[place] = no_lane;
    --num_running_;
}
template <class Real>
LaneEnding RowSolve<Real>::ending_of(int place, const Verdict& verdict, const Real* y,
                                     std::int32_t broken) const {
    if (verdict.turn == Turn::breaks_at_save) {
        const std::int32_t k = num_saved_[place];
        if (broken >= 0) return {Result::non_finite, times(place).save_time[k], broken};
        return {recorder_->not_finite(), times(place).save_time[k], k};
    }
    if (verdict.turn == Turn::breaks) {
        const auto [worst, finite] = step_.blame(place, y);
        if (!finite && step_.runs_out_of_turns(place, y, clocks_))
            return {Result::loop_limit, time(place), worst, !problem_->method->estimates_error};
        return {finite ? Result::dt_underflow : Result::non_finite, time(place), worst,
                !problem_->method->estimates_error};
    }
    const double end = times(place).tstops[clocks_.tstop(place)].t;
    return {verdict.result, verdict.result == Result::success ? end : time(place)};
}

template <class Real>
void RowSolve<Real>::settle_again(std::int64_t round, Real* y) {
    for (int place = 0; place < std::min(count_, step_.width()); ++place) {
        const std::ptrdiff_t lane = first_ + begun_[place];
        if (first_round_[place] + attempts_[place] <= round) {
            clocks_.stop(place);
            if (events_) events_->leave(place);
            continue;
        }
        static_cast<void>(jump(place, y));
        if (clocks_.rows().elapsed[place] ==
            problem_->times_of(lane).tstops[clocks_.tstop(place)].elapsed)
            go_further(place, lane, problem_->times.num_saves, y);
    }
}
template <class Real>
void RowSolve<Real>::copy_clocks(std::vector<std::byte>& to) const {
    const std::size_t of_clocks = RowClocks::num_bytes(step_.width());
    to.resize(bytes_of_clocks(events_ ? problem_->events->count() : 0, step_.width()));
    std::memcpy(to.data(), clocks_.block(), of_clocks);
    if (events_) events_->copy_to(to.data() + of_clocks);
}
template <class Real>
void RowSolve<Real>::restore_clocks(const std::byte* clocks) {
    step_.renew();
    std::memcpy(clocks_.block(), clocks, RowClocks::num_bytes(step_.width()));
    if (events_) events_->restore(clocks + RowClocks::num_bytes(step_.width()));
    for (int place = 0; place < step_.width(); ++place) {
        step_.load_parameters(place, first_ + begun_[place]);
        step_.load_inputs(place, first_ + begun_[place], clocks_.tstop(place));
    }
}
template <class Real>
void RowSolve<Real>::take_steps(const LoggedStep* row) {
    const CallTimes& times = problem_->times;
    const bool reads_times = step_.reads_time() || events_;
    for (int place = 0; place < step_.width(); ++place) {
        const LoggedStep& step = row[place];
        const std::ptrdiff_t lane = first_ + step.lane;
        clocks_.set_step(place, times.direction, step.size);
        if (reads_times) {
            const Row of{problem_->row_of(lane)};
            const Tstop& to = times.tstop_of(of, step.tstop);
            const double t0 = times.own ? times.own[times.table_row(of)].t0 : times.t0;
            clocks_.set_times(place, {t0, times.direction, step.before, to.lowest, to.highest},
                              step.size);
        }
        step_.load_parameters(place, lane);
        step_.load_inputs(place, lane, step.tstop);
    }
    step_.take_sizes(clocks_);
}

template class RowSolve<double>;
template class RowSolve<float>;

}  // namespace eddy::inline v0::detail
