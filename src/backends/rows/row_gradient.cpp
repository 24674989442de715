#include "row_gradient.hpp"
#include <algorithm>
#include <limits>

namespace eddy::inline v0::detail {

template <class Real>
std::int64_t RowGradient<Real>::kept_bytes(int num_states, int num_residuals,
                                           const MethodOnRows& method, int width) {
    const std::int64_t rows = std::int64_t{method.num_kept()} * (num_states + num_residuals);
    return width * (rows * std::int64_t{sizeof(Real)} + std::int64_t{sizeof(LoggedStep)}) +
           std::int64_t{sizeof(std::int64_t)};
}
template <class Real>
std::int64_t RowGradient<Real>::bytes_of_slot(int num_states, int width, bool with_clocks,
                                              int num_events) {
    constexpr std::int64_t of_lists =
        3 * (MemoryStore<RowState<Real>>::bytes_of_slot + CheckpointStack::bytes_of_slot);
    return of_lists + std::int64_t{sizeof(Real)} * num_states * width +
           (with_clocks
                ? static_cast<std::int64_t>(RowSolve<Real>::bytes_of_clocks(num_events, width))
                : 0);
}
template <class Real>
RowGradient<Real>::RowGradient(const RowProblem<Real>& problem, FieldOnTileOf<Real>& field,
                               const RowObjective<Real>& objective, const GradientPlan& plan,
                               Arena& arena)
    : problem_(&problem),
      has_report_(objective.has_report),
      run_(problem, field.width(),
           refills(problem) ? (plan.num_lanes + field.width() - 1) / field.width() : 1, arena),
      replay_(problem, field, run_, arena),
      step_(&replay_.step()),
      times_(problem, run_, *step_, arena),
      saves_(problem, objective, run_, *step_, arena),
      cotangents_(problem, field.width(), arena),
      events_(problem, run_, replay_, cotangents_, times_, arena),
      watch_(problem, field, run_, *step_, arena) {
    const int width = field.width();
    const auto rows = [&](std::int64_t count) { return arena.take<Real>(count * width); };
    of_inputs_ = rows(problem.input_room);
    got_p_ = problem.sums_tile ? cotangents_.of_p
                               : rows(std::int64_t{run_.num_tiles()} * problem.parameter_size);
    for (Real** column : {&column_, &state_}) *column = arena.take<Real>(problem.state_size);
    saves_left_ = arena.take<std::int32_t>(run_.most_lanes());
    due_ = arena.take<double>(width);
    pulled_tstops_ = arena.take<std::int32_t>(width);
    replay_.reserve(plan, arena);
}
/// Rounds of several tiles keep more than caches hold, which makes them some 1.5 times as long: that pays where lanes
/// are idle half of the time.
template <class Real>
void RowGradient<Real>::learn(const LaneOutcome* outcomes) {
    std::int64_t sum = 0, most = 0;
    for (std::int32_t lane = 0; lane < run_.count(); ++lane) {
        const std::int64_t attempts = outcomes[lane].accepted + outcomes[lane].rejected;
        sum += attempts;
        most = std::max(most, attempts);
    }
    refills_ = 20 * sum < 11 * most * run_.count();
}
template <class Real>
void RowGradient<Real>::begin_back(LaneOutcome* outcomes) {
    const int width = step_->width();
    if (problem_->sums_tile) std::fill_n(cotangents_.of_p, problem_->parameter_size, Real(0));
    std::fill_n(of_inputs_, std::ptrdiff_t{problem_->input_room} * width, Real(0));
    for (std::int32_t lane = 0; lane < run_.most_lanes(); ++lane) {
        const bool is_alive = lane < run_.count() && !is_failure(outcomes[lane].result);
        run_.set_alive(lane, is_alive);
        saves_left_[lane] = is_alive ? saves_.num_saved(lane) : 0;
        if (lane < run_.count()) forget(lane);
    }
    times_.begin(target_);
    step_->impulses().begin_back(target_.impulse_amounts);
    watch_.begin(marks_, outcomes);
    saves_.seed(times_, got_p_);
    for (int place = 0; place < width; ++place) take_back(place, replay_.solve().begun(place));
}
/// A lane goes back in a place, with what losses have asked of its parameters.
template <class Real>
void RowGradient<Real>::take_back(int place, std::int32_t lane) {
    run_.take_back(place, lane);
    pulled_tstops_[place] = -1;
    for (int c = 0; c < problem_->state_size; ++c)
        cotangents_.of_state[c * step_->width() + place] = 0;
    run_.copy_column(run_.column_of(got_p_, num_own_p(), lane), cotangents_.of_p + place,
                     num_own_p());
    expect(place);
}
template <class Real>
void RowGradient<Real>::expect(int place) {
    const std::int32_t left = saves_left_[run_.back(place)];
    due_[place] = left > 0 ? problem_->times_of(run_.lane(place)).saves[left - 1] : -1;
}
/// It is at its start, and leaves what it has got.
template <class Real>
void RowGradient<Real>::leave_back(int place) {
    if (place >= run_.count() || !run_.is_alive(place)) return;
    pull_start(place);
    leave_tstop(place);
    for (int c = 0; c < problem_->state_size; ++c)
        target_.y0(run_.lane(place), c) += cotangents_.of_state[c * step_->width() + place];
    run_.copy_column(cotangents_.of_p + place,
                     run_.column_of(got_p_, num_own_p(), run_.back(place)), num_own_p());
}
template <class Real>
void RowGradient<Real>::fail_infinite(std::int32_t lane, LaneOutcome* outcomes) {
    outcomes[lane].result = Result::non_finite;
    if (marks_) marks_[lane] = {outcomes[lane].t, std::numeric_limits<float>::infinity()};
}
/// Where lanes share sums: lanes whose values are numbers and whose derivative is not, as that of √y at 0. False:
/// there are none.
template <class Real>
bool RowGradient<Real>::leave_out_infinite(LaneOutcome* outcomes) {
    bool found = false;
    for (int place = 0; problem_->sums_tile && has_report_ && place < run_.count(); ++place) {
        if (!run_.is_lane_alive(place)) continue;
        Real nothing = 0;
        for (int c = 0; c < problem_->state_size; ++c) {
            const Real x = cotangents_.of_state[c * step_->width() + place];
            nothing += x - x;
        }
        if (nothing == 0) continue;
        fail_infinite(place, outcomes);
        found = true;
    }
    return found;
}
/// The cotangents of save points in the round: those at the ends of steps enter there, the others as
/// dense output has them. True where there are any of the latter.
template <class Real>
bool RowGradient<Real>::add_saves() {
    bool is_dense = false;
    const int width = step_->width();
    const bool has_impulses = problem_->times.num_impulses > 0;
    for (int place = 0; place < run_.num_places(); ++place) {
        const LoggedStep& step = run_.step(place);
        if (!(due_[place] > step.before) && !has_impulses && !step.ends_lane) continue;
        if (step.size == 0 || !run_.is_alive(place)) continue;
        std::int32_t& left = saves_left_[step.lane];
        const std::ptrdiff_t lane = run_.lane(place);
        const LaneTimes times = problem_->times_of(lane);
        const ImpulseRange& met = times.tstops[step.tstop].impulses;
        if (run_.lands(step, times))
            step_->impulses().pull(lane, times, met, cotangents_.of_state + place, width);
        if (step.ends_lane && saves_.ends_at_event(step.lane) && left > 0) {
            saves_.seed_of(place, --left, column_, cotangents_.sums_of(place));
            add_to_cotangent(place);
        }
        while (left > 0 && times.saves[left - 1] > step.before) {
            const std::int32_t k = --left;
            saves_.seed_of(place, k, column_, cotangents_.sums_of(place));
            if (times_.are_asked()) add_time_of_save(place, k);
            if (times.saves[k] == step.after && !step.ends_lane) {
                if (is_behind_impulses(times, step.tstop, k))
                    step_->impulses().pull(lane, times, met, column_, 1);
                add_to_cotangent(place);
                continue;
            }
            if (!is_dense) cotangents_.clear_dense();
            is_dense = true;
            cotangents_.add_dense(*step_, place, column_,
                                  (times.saves[k] - step.before) / step.size);
        }
        expect(place);
    }
    return is_dense;
}
template <class Real>
void RowGradient<Real>::add_time_of_save(int place, std::int32_t k) {
    saves_.state_of(place, k, state_);
    times_.add_save(place, run_.step(place), k, column_, state_);
}
template <class Real>
void RowGradient<Real>::add_to_cotangent(int place) {
    step_->kernels().add_column(cotangents_.of_state + place, step_->width(), 1, column_, 1,
                                problem_->state_size);
}
/// Where a lane lands in the round, has a save point or `meets` an event, times ask for its stages. True where these are
/// there.
template <class Real>
bool RowGradient<Real>::begin_times(const RowState<Real>& x, std::int64_t round, bool meets) {
    bool lands = false, saves = false;
    for (int place = 0; place < run_.num_places(); ++place) {
        const LoggedStep& step = run_.step(place);
        if (step.size == 0 || !run_.is_alive(place)) continue;
        const LaneTimes times = problem_->times_of(run_.lane(place));
        lands = lands || RowTimes<Real>::has_landing_size(step, times);
        const std::int32_t left = saves_left_[step.lane];
        saves = saves || (left > 0 && times.saves[left - 1] > step.before);
    }
    times_.begin_round(lands || meets);
    if (lands || saves || meets) replay_.linearize(problem_->method->num_dense, x, round);
    return lands || saves || meets;
}
template <class Real>
void RowGradient<Real>::pull(const RowState<Real>& x, std::int64_t round) {
    replay_.know_steps(x, round);
    for (int place = 0; place < step_->width(); ++place) {
        if (run_.step(place).lane == run_.back(place)) continue;
        leave_back(place);
        take_back(place, run_.step(place).lane);
        watch_.change_lane();
    }
    if (problem_->input_room > 0 || times_.are_asked()) leave_tstops();
    const bool meets = events_.are_met();
    const bool has_stages = times_.are_asked() && begin_times(x, round, meets);
    const bool is_dense = add_saves();
    if (!run_.choose_stepped(true)) return;
    const int count = is_dense ? problem_->method->num_dense : problem_->method->num_needed;
    const bool from_start = !step_->keeps_stages() && !is_dense;
    const bool are_there = has_stages || from_start ||
                           (replay_.is_kept(round) && (!is_dense || step_->keeps_dense_stages()));
    if (!are_there) replay_.linearize(count, x, round);
    const row_kernels::Kernels<Real>& kernels = step_->kernels();
    if (meets) events_.pull_jumps(x.y());
    if (is_dense && cotangents_.dense_of_next)
        kernels.add_rows(cotangents_.of_state, cotangents_.dense_of_next, step_->shape());
    if (meets) events_.clear_sizes(round, is_dense);
    const row_kernels::Shape of_p{problem_->parameter_size, step_->width()};
    const row_kernels::Shape of_inputs{problem_->input_room, step_->width()};
    const std::ptrdiff_t behind = problem_->behind_parameters(step_->width());
    if (!problem_->sums_tile) std::fill_n(cotangents_.of_step, behind, Real(0));
    std::fill_n(cotangents_.of_step + behind, std::ptrdiff_t{of_inputs.size} * of_inputs.width,
                Real(0));
    step_->sum_over(run_.taking_part(), run_.num_taking_part(), count);
    if (from_start) {
        step_->pull_from_start(x.y(), replay_.clocks(), cotangents_.of_state, cotangents_.pulled,
                               cotangents_.of_step);
        replay_.count_replay();
    } else {
        step_->pull(count, replay_.clocks(), replay_.kept_of(round),
                    is_dense ? cotangents_.dense_of_k : nullptr, cotangents_.of_state,
                    cotangents_.pulled, cotangents_.of_step, times_.of_round());
    }
    for (int i = 0; times_.are_asked() && i < run_.num_taking_part(); ++i)
        times_.add_step(run_.taking_part()[i], run_.step(run_.taking_part()[i]));
    if (is_dense) kernels.add_rows(cotangents_.pulled, cotangents_.dense_of_y, step_->shape());
    if (!problem_->sums_tile)
        kernels.add_chosen_rows(cotangents_.of_p, cotangents_.of_step, of_p, run_.chosen());
    if (of_inputs.size > 0)
        kernels.add_chosen_rows(of_inputs_, cotangents_.of_step + behind, of_inputs, run_.chosen());
    kernels.choose_rows(cotangents_.of_state, cotangents_.pulled, step_->shape(), run_.chosen());
    watch_.look(x.y(), cotangents_.of_state, replay_.clocks(), round);
}
/// The steps that head for a tstop have all been pulled back where those of the round at hand head for another one.
template <class Real>
void RowGradient<Real>::leave_tstops() {
    for (int place = 0; place < run_.num_places(); ++place) {
        if (pulled_tstops_[place] != run_.step(place).tstop) leave_tstop(place);
        pulled_tstops_[place] = run_.step(place).tstop;
    }
}
template <class Real>
void RowGradient<Real>::leave_tstop(int place) {
    if (pulled_tstops_[place] < 0 || !run_.is_alive(place)) return;
    if (problem_->input_room > 0) hand_out_inputs(place);
    if (times_.are_asked()) times_.leave_tstop(place, pulled_tstops_[place]);
}
/// What their piece of the inputs has got.
template <class Real>
void RowGradient<Real>::hand_out_inputs(int place) {
    const std::ptrdiff_t lane = run_.lane(place),
                         piece = problem_->piece_of(lane, pulled_tstops_[place]);
    for (int i = 0; i < problem_->input_room; ++i) {
        Real& sum = of_inputs_[i * step_->width() + place];
        target_.inputs(lane, piece + i) += sum;
        sum = 0;
    }
}
/// To the state that was given, from behind the impulses at t0, and save points there.
template <class Real>
void RowGradient<Real>::pull_start(int place) {
    const std::ptrdiff_t lane = run_.lane(place);
    const LaneTimes times = problem_->times_of(lane);
    if (!times.saves_before_impulses) add_saves_at_start(place);
    step_->impulses().pull(lane, times, times.impulses_at_start(), cotangents_.of_state + place,
                           step_->width());
    if (times_.are_asked()) {
        step_->state_of(place, cotangents_.of_state, column_);
        times_.add_impulses_at_start(place, column_);
    }
    add_saves_at_start(place);
}
template <class Real>
void RowGradient<Real>::add_saves_at_start(int place) {
    std::int32_t& left = saves_left_[run_.back(place)];
    while (left > 0) {
        saves_.seed_of(place, --left, column_, cotangents_.sums_of(place));
        if (times_.are_asked()) times_.add_start_save(place, left, column_);
        add_to_cotangent(place);
    }
}
/// What a lane has got, in the arrays that it has rows of.
template <class Real>
void RowGradient<Real>::for_each_number(std::int32_t lane, const auto& use) const {
    for (const auto& values : {target_.y0, target_.t0, target_.t1, target_.save_at,
                               target_.impulse_times, target_.impulse_amounts, target_.inputs})
        for (std::ptrdiff_t k = 0; k < values.num_components; ++k)
            use(values(run_.first() + lane, k));
    Real* const of_p = run_.column_of(got_p_, num_own_p(), lane);
    for (int i = 0; i < num_own_p(); ++i) use(of_p[i * run_.width()]);
}
template <class Real>
void RowGradient<Real>::forget(std::int32_t lane) const {
    for_each_number(lane, [](Real& x) { x = 0; });
}
template <class Real>
void RowGradient<Real>::hand_out(const SharedTarget<Real>& shared, LaneOutcome* outcomes) {
    for (int i = 0; problem_->sums_tile && i < problem_->parameter_size; ++i)
        shared.sums[i] += cotangents_.of_p[i];
    for (int place = 0; place < run_.num_places(); ++place) leave_back(place);
    watch_.finish();
    for (std::int32_t lane = 0; lane < run_.count(); ++lane) {
        if (!run_.is_lane_alive(lane)) continue;
        // A derivative may be infinite where all values are numbers, as that of √y at 0.
        Real nothing = 0;
        for_each_number(lane, [&](Real x) { nothing += x - x; });
        if (has_report_ && nothing != 0) {
            fail_infinite(lane, outcomes);
            forget(lane);
        }
        const bool is_left_out = leaves_out_marked_ && problem_->shares_parameters && marks_[lane];
        if (!is_left_out) hand_out_p(lane, shared);
    }
}
/// To the gradient of its own parameters, or to sums over lanes.
template <class Real>
void RowGradient<Real>::hand_out_p(std::int32_t lane, const SharedTarget<Real>& shared) {
    const int num_p = num_own_p();
    const std::ptrdiff_t of_call = run_.first() + lane;
    const Real* const got_p = run_.column_of(got_p_, num_p, lane);
    for (int i = 0; i < num_p; ++i) {
        const Real x = got_p[i * run_.width()];
        if (!problem_->shares_parameters)
            target_.p(of_call, i) += x;
        else if (shared.addends)
            shared.addends[of_call * num_p + i] += x;
        else
            shared.sums[of_call / lanes_per_block * num_p + i] += x;
    }
}

template class RowGradient<double>;
template class RowGradient<float>;

}  // namespace eddy::inline v0::detail
