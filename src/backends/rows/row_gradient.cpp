#include "row_gradient.hpp"
#include <algorithm>
#include <cmath>

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
      objective_(objective),
      solve_(problem, field, true, arena),
      step_(&solve_.step()),
      times_(problem, *step_, arena),
      planned_bytes_(static_cast<std::int64_t>(arena.num_bytes())),
      log_(plan.logged_rounds * field.width(), plan.slots * field.width(), field.width(), arena),
      num_kept_(plan.slots),
      kept_size_(std::int64_t{problem.method->num_kept()} * step_->rows_per_stage() *
                 field.width()),
      kept_(arena.take<Real>(num_kept_ * kept_size_)),
      round_kept_(arena.take<std::int64_t>(num_kept_)) {
    planned_bytes_ = static_cast<std::int64_t>(arena.num_bytes()) - planned_bytes_;
    const int width = field.width();
    const auto rows = [&](std::int64_t count) { return arena.take<Real>(count * width); };
    cotangent_ = rows(problem.state_size);
    pulled_ = rows(problem.state_size);
    dense_of_y_ = rows(problem.state_size);
    for (int i = 0; i < num_dense(); ++i) dense_of_k_[i] = rows(problem.state_size);
    const bool sums = problem.sums_tile;
    of_step_ = arena.take<Real>(problem.size_of_reads(width));
    of_p_ = sums ? of_step_ : rows(problem.parameter_size);
    of_inputs_ = rows(problem.input_room);
    lanes_ = arena.take<int>(width);
    const std::int64_t num_kept_saves = objective.by_lane ? 0 : problem.times.num_saves;
    saved_ = rows(num_kept_saves * problem.state_size);
    seeds_ = rows(num_kept_saves * problem.state_size);
    chosen_ = rows(1);
    for (Real** column : {&column_, &state_}) *column = arena.take<Real>(problem.state_size);
    if (const FieldOnTileOf<Real>* loss = objective.loss) {
        const int num_data = loss->num_parameters() - problem.parameter_size;
        loss_p_ = sums ? arena.take<Real>(whole_lines(problem.parameter_size) + num_data * width)
                       : rows(loss->num_parameters());
        loss_of_p_ = sums ? of_p_ : rows(loss->num_parameters());
        loss_value_ = rows(1 + problem.num_tangents);
        loss_c_ = rows(1 + problem.num_tangents);
        loss_kept_ = rows(loss->num_residuals());
        loss_t_ = rows(1);
        loss_of_t_ = rows(1);
    }
    if (problem.events) {
        root_ = rows(problem.state_size);
        unwanted_ = arena.take<Real>(problem.size_of_reads(width));
        for (Real** row : {&still_, &of_size_, &of_root_}) *row = rows(1);
        end_time_ = arena.take<double>(width);
    }
    saves_left_ = arena.take<std::int32_t>(width);
    pulled_tstops_ = arena.take<std::int32_t>(width);
    logged_tstops_ = arena.take<std::int32_t>(width);
    is_alive_ = arena.take<bool>(width);
}

template <class Real>
Real* RowGradient<Real>::data_of_loss() const {
    return loss_p_ + problem_->behind_parameters(step_->width());
}
template <class Real>
std::int64_t RowGradient<Real>::used_bytes() const {
    const std::int64_t rounds = std::min(num_rounds_, num_kept_);
    return rounds * kept_size_ * std::int64_t{sizeof(Real)} +
           num_kept_ * std::int64_t{sizeof(std::int64_t)} + log_.bytes_of(num_rounds_) +
           step_->width() * std::int64_t{sizeof(LoggedStep)};
}
template <class Real>
std::int64_t RowGradient<Real>::bytes_of_state() const {
    return block() * std::int64_t{sizeof(Real)} + static_cast<std::int64_t>(after_log_.size());
}

// Forward

template <class Real>
void RowGradient<Real>::begin(ThreadTeam<1>& team, std::ptrdiff_t first, std::int32_t count,
                              LaneOutcome* outcomes) {
    team_ = &team;
    first_ = first;
    count_ = count;
    num_rounds_ = replayed_ = 0;
    std::fill_n(logged_tstops_, step_->width(), 0);
    log_.begin(step_->width(), num_kept_);
    if (problem_->events)
        std::fill_n(end_time_, step_->width(), std::numeric_limits<double>::quiet_NaN());
    constexpr std::int64_t line = RowNumbers<Real>::size;
    start_.numbers.resize(static_cast<std::size_t>((block() + line - 1) / line));
    solve_.begin(first, count, *this, outcomes, start_.y());
    start_.clocks.clear();
    carry_clocks(start_);
}
template <class Real>
bool RowGradient<Real>::save(std::ptrdiff_t lane, int place, std::int32_t k, const Real* state) {
    if (objective_.by_lane) return objective_.by_lane->save(lane, place, k, state);
    Real* const rows = saved(k);
    for (int c = 0; c < problem_->state_size; ++c) rows[c * step_->width() + place] = state[c];
    return true;
}
template <class Real>
Result RowGradient<Real>::not_finite() const {
    return objective_.by_lane ? objective_.by_lane->not_finite() : RowRecorder<Real>::not_finite();
}
template <class Real>
void RowGradient<Real>::advance(RowState<Real>& x, std::int64_t round) {
    if (round == num_rounds_) return make_round(x, round);
    ++replayed_;
    Real* y = x.y();
    if (round >= log_.num_first()) {
        restore_clocks(x);
        attempt_again(y, nullptr, log_.spare());
        step_->accept(y, solve_.clocks(), false);
        solve_.settle_again(round + 1, y);
        solve_.copy_clocks(x.clocks);
        return;
    }
    take_steps(log_.row(round));
    step_->stages(0, problem_->method->num_needed, y, solve_.clocks(), nullptr);
    step_->next_state(y, step_->work());
    if (choose_stepped(false))
        step_->kernels().choose_rows(y, step_->work(), step_->shape(), chosen_);
    if (problem_->events) meet_events(y);
    if (problem_->times.num_impulses > 0) meet_impulses(y);
    if (round + 1 == log_.num_first()) x.clocks = after_log_;
}
/// The lanes that met an event in the round at hand go on behind it.
template <class Real>
void RowGradient<Real>::meet_events(Real* y) {
    for (int place = 0; place < count_; ++place) {
        const LoggedStep& step = steps_[place];
        if (!step.meets_event() || step.ends_lane) continue;
        step_->state_of(place, y, state_);
        solve_.events()->state_after(step.event, first_ + place, solve_.clocks().rows().last[place],
                                     state_, column_);
        put_column(place, y);
    }
}
/// The lanes that landed in the round at hand go on behind the impulses there.
template <class Real>
void RowGradient<Real>::meet_impulses(Real* y) {
    for (int place = 0; place < count_; ++place) {
        const LoggedStep& step = steps_[place];
        const LaneTimes times = problem_->times_of(first_ + place);
        if (lands(step, times) && !times.is_end(step.tstop))
            step_->impulses().meet(place, times, times.tstops[step.tstop].impulses, y + place,
                                   step_->width());
    }
}
template <class Real>
void RowGradient<Real>::make_round(RowState<Real>& x, std::int64_t round) {
    Real* y = x.y();
    solve_.round(y, kept_of(round), false, *team_);
    round_kept_[round % num_kept_] = round;
    log_round(log_.row(round), logged_tstops_);
    for (int place = 0; place < count_; ++place)
        logged_tstops_[place] = solve_.clocks().tstop(place);
    ++num_rounds_;
    carry_clocks(x);
}
/// A row of the log: what lanes have done, heading for these tstops.
template <class Real>
void RowGradient<Real>::log_round(LoggedStep* row, const std::int32_t* tstops) {
    const row_kernels::Clocks& rows = solve_.clocks().rows();
    for (int place = 0; place < step_->width(); ++place) {
        row[place] = {rows.before[place], rows.elapsed[place],
                      rows.used[place] > 0 ? rows.tried[place] : 0,
                      tstops ? tstops[place] : solve_.clocks().tstop(place)};
        if (const RowEvents<Real>* const events = solve_.events()) {
            row[place].event = events->met(place);
            row[place].ends_lane = events->ends_lane(place);
        }
    }
}
/// Carries the clocks of its lanes in a state behind the end of the log.
template <class Real>
void RowGradient<Real>::carry_clocks(RowState<Real>& x) {
    if (num_rounds_ == 0) after_log_.clear();
    if (num_rounds_ < log_.num_first()) return;
    solve_.copy_clocks(x.clocks);
    if (num_rounds_ == log_.num_first()) after_log_ = x.clocks;
}
template <class Real>
void RowGradient<Real>::restore_clocks(const RowState<Real>& x) {
    solve_.restore_clocks(x.clocks.data());
}
/// The attempt of a round that is not in the log, from the clocks before it.
template <class Real>
void RowGradient<Real>::attempt_again(const Real* y, Real* kept, LoggedStep* row) {
    static_cast<void>(solve_.attempt_once(y, kept));
    log_round(row, nullptr);
}
/// The steps of the round at hand.
template <class Real>
void RowGradient<Real>::take_steps(const LoggedStep* row) {
    steps_ = row;
    solve_.take_steps(row);
}
/// The lanes that made a step in it; on the way back those alone that are alive. False: none.
template <class Real>
bool RowGradient<Real>::choose_stepped(bool if_alive) {
    return choose_lanes(
        [&](int place) { return steps_[place].size > 0 && (!if_alive || is_alive_[place]); });
}
template <class Real>
bool RowGradient<Real>::choose_lanes(const auto& is_chosen) {
    num_taking_part_ = 0;
    for (int place = 0; place < step_->width(); ++place) {
        const bool takes_part = place < count_ && is_chosen(place);
        chosen_[place] = takes_part ? 1 : 0;
        if (takes_part) lanes_[num_taking_part_++] = place;
    }
    return num_taking_part_ > 0;
}

// Losses

/// Parameters, then a save point's data; lanes that have not come to it have those of numbers that some lane has.
template <class Real>
void RowGradient<Real>::load_loss(std::int32_t k) {
    const int width = step_->width();
    const EnsembleView<const Real> data = objective_.arrays.empty()
                                              ? EnsembleView<const Real>{}
                                              : objective_.arrays[static_cast<std::size_t>(k)];
    for (int place = 0; place < width; ++place) {
        const std::ptrdiff_t lane = first_ + std::min<std::ptrdiff_t>(place, count_ - 1);
        const std::ptrdiff_t of_p = problem_->row_of_p(lane);
        for (int i = 0; !problem_->sums_tile && i < problem_->parameter_size; ++i)
            loss_p_[i * width + place] = problem_->p(of_p, i);
        const int num_data = objective_.loss->num_parameters() - problem_->parameter_size;
        for (int i = 0; i < num_data; ++i)
            data_of_loss()[i * width + place] = data(data.num_lanes == 1 ? 0 : lane, i);
        const bool is_there = place < count_ && solve_.num_saved(place) > k;
        loss_t_[place] =
            static_cast<Real>(is_there ? time_of_save(place, k) : problem_->times_of(lane).t0);
        if (!is_there)
            for (int c = 0; c < problem_->state_size; ++c)
                saved(k)[c * width + place] = problem_->y0(lane, c);
    }
}
/// The values of the losses, and which lanes fail by them.
template <class Real>
void RowGradient<Real>::measure_losses(LaneOutcome* outcomes) {
    if (!objective_.loss) return;
    FieldOnTileOf<Real>& loss = *objective_.loss;
    for (std::int32_t k = 0; k < problem_->times.num_saves; ++k) {
        load_loss(k);
        loss.forward(loss_t_, saved(k), loss_p_, loss_value_, loss_kept_);
        for (int place = 0; place < count_; ++place) {
            if (solve_.num_saved(place) <= k || is_failure(outcomes[place].result)) continue;
            Real& sum = objective_.of_lane(first_ + place, 0);
            sum += loss_value_[place];
            if (std::isfinite(sum)) continue;
            outcomes[place].result = Result::loss_not_finite;
            outcomes[place].component = k;
            outcomes[place].t = time_of_save(place, k);
            step_->state_of(place, saved(k), column_);
            if (team_->call().wants_states())
                team_->call().keep_state(
                    first_ + place, std::vector<double>(column_, column_ + problem_->own_size()));
        }
    }
}
/// The cotangents of save points, and what losses ask of parameters.
template <class Real>
void RowGradient<Real>::seed_losses() {
    FieldOnTileOf<Real>& loss = *objective_.loss;
    const int width = step_->width(), num_saves = problem_->times.num_saves;
    // Of a loss with a tangent, that is what is pulled back.
    std::fill_n(loss_c_, problem_->num_tangents * width, Real(0));
    std::fill_n(loss_c_ + problem_->num_tangents * width, width, Real(1));
    for (std::int32_t k = 0; k < num_saves; ++k) {
        if (num_saves > 1) {
            load_loss(k);
            loss.forward(loss_t_, saved(k), loss_p_, loss_value_, loss_kept_);
        }
        choose_lanes([&](int place) { return is_alive_[place] && solve_.num_saved(place) > k; });
        loss.sum_over(lanes_, num_taking_part_, 1);
        if (!problem_->sums_tile)
            std::fill_n(loss_of_p_, std::int64_t{loss.num_parameters()} * width, Real(0));
        loss.pull(loss_t_, saved(k), loss_p_, loss_kept_, loss_c_, seeds(k), loss_of_p_);
        if (times_.are_asked()) {
            loss.pull_time(loss_t_, saved(k), loss_p_, loss_c_, loss_of_t_);
            for (int i = 0; i < num_taking_part_; ++i) {
                const int place = lanes_[i];
                if (ends_at_event(place))
                    times_.shift(place) += loss_of_t_[place];
                else
                    times_.add_save_time(place, k, loss_of_t_[place]);
            }
        }
        if (problem_->sums_tile) continue;
        for (int i = 0; i < problem_->parameter_size; ++i)
            for (int place = 0; place < count_; ++place)
                if (chosen_[place] > 0) of_p_[i * width + place] += loss_of_p_[i * width + place];
    }
}
template <class Real>
void RowGradient<Real>::seed_cotangents() {
    for (std::int32_t k = 0; k < problem_->times.num_saves; ++k) {
        const EnsembleView<const Real>& given = objective_.arrays[static_cast<std::size_t>(k)];
        for (int place = 0; place < count_; ++place)
            for (int c = 0; c < problem_->state_size; ++c)
                seeds(k)[c * step_->width() + place] =
                    given(given.num_lanes == 1 ? 0 : first_ + place, c);
    }
}

// Back

template <class Real>
void RowGradient<Real>::begin_back(LaneOutcome* outcomes) {
    const int width = step_->width();
    std::fill_n(cotangent_, block(), Real(0));
    std::fill_n(of_p_, std::int64_t{problem_->parameter_size} * (problem_->sums_tile ? 1 : width),
                Real(0));
    begin_inputs();
    times_.begin(target_, first_, count_);
    for (int place = 0; place < width; ++place) {
        is_alive_[place] = place < count_ && !is_failure(outcomes[place].result);
        saves_left_[place] = is_alive_[place] ? solve_.num_saved(place) : 0;
    }
    step_->impulses().begin_back();
    if (objective_.loss)
        seed_losses();
    else if (!objective_.by_lane)
        seed_cotangents();
}
/// Where lanes share sums: lanes whose values are numbers and whose derivative is not, as that of √y at 0. False:
/// there are none.
template <class Real>
bool RowGradient<Real>::leave_out_infinite(LaneOutcome* outcomes) {
    bool found = false;
    for (int place = 0; problem_->sums_tile && objective_.has_report && place < count_; ++place) {
        if (!is_alive_[place]) continue;
        Real nothing = 0;
        for (int c = 0; c < problem_->state_size; ++c) {
            const Real x = cotangent_[c * step_->width() + place];
            nothing += x - x;
        }
        if (nothing == 0) continue;
        outcomes[place].result = Result::non_finite;
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
    for (int place = 0; place < count_; ++place) {
        const LoggedStep& step = steps_[place];
        if (step.size == 0) continue;
        const LaneTimes times = problem_->times_of(first_ + place);
        const ImpulseRange& met = times.tstops[step.tstop].impulses;
        if (lands(step, times))
            step_->impulses().pull(place, times, met, cotangent_ + place, width);
        if (step.ends_lane && ends_at_event(place) && saves_left_[place] > 0) {
            seed_save(place, --saves_left_[place]);
            add_to_cotangent(place);
        }
        while (saves_left_[place] > 0 && times.saves[saves_left_[place] - 1] > step.before) {
            const std::int32_t k = --saves_left_[place];
            seed_save(place, k);
            if (times_.are_asked()) add_time_of_save(place, k);
            if (times.saves[k] == step.after && !step.ends_lane) {
                if (is_behind_impulses(times, step.tstop, k))
                    step_->impulses().pull(place, times, met, column_, 1);
                add_to_cotangent(place);
                continue;
            }
            if (!is_dense) {
                std::fill_n(dense_of_y_, block(), Real(0));
                for (int i = 0; i < num_dense(); ++i) std::fill_n(dense_of_k_[i], block(), Real(0));
            }
            is_dense = true;
            add_dense(place, column_, (times.saves[k] - step.before) / step.size);
        }
    }
    return is_dense;
}
/// The cotangent of a save point, as a column.
template <class Real>
void RowGradient<Real>::seed_save(int place, std::int32_t k) {
    if (!objective_.by_lane) return step_->state_of(place, seeds(k), column_);
    objective_.by_lane->pull_save(first_ + place, k, column_, sums_of(place));
}
template <class Real>
void RowGradient<Real>::add_time_of_save(int place, std::int32_t k) {
    if (objective_.by_lane)
        objective_.by_lane->state_at(first_ + place, k, state_);
    else
        step_->state_of(place, saved(k), state_);
    times_.add_save(place, steps_[place], k, column_, state_);
}
template <class Real>
void RowGradient<Real>::add_to_cotangent(int place) {
    step_->kernels().add_column(cotangent_ + place, step_->width(), 1, column_, 1,
                                problem_->state_size);
}
template <class Real>
void RowGradient<Real>::put_column(int place, Real* rows) const {
    for (int c = 0; c < problem_->state_size; ++c) rows[c * step_->width() + place] = column_[c];
}
template <class Real>
void RowGradient<Real>::add_dense(int place, const Real* seed, double theta) {
    Real weights[MethodOnRows::most_stages];
    step_->dense_weights(theta, weights);
    const int width = step_->width();
    const bool is_explicit = problem_->method->rosenbrock == nullptr;
    const Real h = is_explicit ? step_->sizes()[place] : 1;
    const auto of_next = is_explicit ? Real(0) : static_cast<Real>(theta);
    const row_kernels::Kernels<Real>& kernels = step_->kernels();
    kernels.add_column(dense_of_y_ + place, width, 1 - of_next, seed, 1, problem_->state_size);
    if (!is_explicit)
        kernels.add_column(cotangent_ + place, width, of_next, seed, 1, problem_->state_size);
    for (int i = 0; i < num_dense(); ++i) {
        if (weights[i] == 0) continue;
        kernels.add_column(dense_of_k_[i] + place, width, h * weights[i], seed, 1,
                           problem_->state_size);
    }
}
template <class Real>
void RowGradient<Real>::linearize(int count, const RowState<Real>& x, std::int64_t round) {
    step_->stages(0, count, x.y(), solve_.clocks(), kept_of(round));
    round_kept_[round % num_kept_] = round;
    ++replayed_;
}
/// Where a lane lands in the round, or has a save point, times ask for its stages. True where these are there.
template <class Real>
bool RowGradient<Real>::begin_times(const RowState<Real>& x, std::int64_t round) {
    bool lands = false, saves = false;
    for (int place = 0; place < count_; ++place) {
        const LoggedStep& step = steps_[place];
        if (step.size == 0 || !is_alive_[place]) continue;
        const LaneTimes times = problem_->times_of(first_ + place);
        lands = lands || RowTimes<Real>::lands(step, times);
        const std::int32_t left = saves_left_[place];
        saves = saves || (left > 0 && times.saves[left - 1] > step.before);
    }
    const bool meets = problem_->events && has_events();
    times_.begin_round(lands || meets);
    if (lands || saves || meets) linearize(num_dense(), x, round);
    return lands || saves || meets;
}
template <class Real>
void RowGradient<Real>::pull(const RowState<Real>& x, std::int64_t round) {
    if (round >= log_.num_first() && !is_kept(round)) {
        restore_clocks(x);
        attempt_again(x.y(), kept_of(round), log_.row(round));
        round_kept_[round % num_kept_] = round;
        ++replayed_;
    }
    take_steps(log_.row(round));
    if (problem_->input_room > 0 || times_.are_asked()) leave_tstops();
    const bool has_stages = times_.are_asked() && begin_times(x, round);
    const bool is_dense = add_saves();
    if (!choose_stepped(true)) return;
    const int count = is_dense ? num_dense() : problem_->method->num_needed;
    if (!has_stages && (!is_kept(round) || (is_dense && !step_->keeps_dense_stages())))
        linearize(count, x, round);
    if (problem_->events && has_events()) pull_events(x.y(), round, is_dense);
    const row_kernels::Kernels<Real>& kernels = step_->kernels();
    const row_kernels::Shape of_p{problem_->parameter_size, step_->width()};
    const row_kernels::Shape of_inputs{problem_->input_room, step_->width()};
    const std::ptrdiff_t behind = problem_->behind_parameters(step_->width());
    if (!problem_->sums_tile) std::fill_n(of_step_, behind, Real(0));
    std::fill_n(of_step_ + behind, std::ptrdiff_t{of_inputs.size} * of_inputs.width, Real(0));
    step_->sum_over(lanes_, num_taking_part_, count);
    step_->pull(count, solve_.clocks(), kept_of(round), is_dense ? dense_of_k_ : nullptr,
                cotangent_, pulled_, of_step_, times_.of_round());
    for (int i = 0; times_.are_asked() && i < num_taking_part_; ++i)
        times_.add_step(lanes_[i], steps_[lanes_[i]]);
    if (is_dense) kernels.add_rows(pulled_, dense_of_y_, step_->shape());
    if (!problem_->sums_tile) {
        kernels.add_rows(of_step_, of_p_, of_p);
        kernels.choose_rows(of_p_, of_step_, of_p, chosen_);
    }
    if (of_inputs.size > 0) {
        kernels.add_rows(of_step_ + behind, of_inputs_, of_inputs);
        kernels.choose_rows(of_inputs_, of_step_ + behind, of_inputs, chosen_);
    }
    kernels.choose_rows(cotangent_, pulled_, step_->shape(), chosen_);
}

// Events: lane/event_adjoint.hpp, a tile at a time.

/// Does a lane that is alive meet one in the round at hand?
template <class Real>
bool RowGradient<Real>::has_events() const {
    for (int place = 0; place < count_; ++place)
        if (steps_[place].meets_event() && is_alive_[place]) return true;
    return false;
}
/// The sizes of the steps that end with events are cleared, by what joins the cotangents with which the round is to be
/// pulled back. Its stages have just been computed.
template <class Real>
void RowGradient<Real>::pull_events(const Real* y, std::int64_t round, bool is_dense) {
    step_->next_state(y, step_->work());
    std::fill_n(root_, block(), Real(0));
    const auto for_events = [&](const auto& visit) {
        for (int i = 0; i < num_taking_part_; ++i)
            if (steps_[lanes_[i]].meets_event()) visit(lanes_[i]);
    };
    for_events([&](int place) { pull_jump_of(place); });
    const auto pull = [&](const Real* next, bool dense, Real* sizes) {
        const int count = dense ? num_dense() : problem_->method->num_needed;
        std::fill_n(unwanted_, problem_->size_of_reads(step_->width()), Real(0));
        step_->sum_over(lanes_, num_taking_part_, count);
        const RowTimeCotangents<Real> of_times{still_, sizes};
        step_->pull(count, solve_.clocks(), kept_of(round), dense ? dense_of_k_ : nullptr, next,
                    pulled_, unwanted_, of_times);
    };
    std::fill_n(still_, step_->width(), Real(0));
    std::fill_n(of_root_, step_->width(), Real(0));
    for (int place = 0; place < step_->width(); ++place) of_size_[place] = times_.size(place);
    pull(cotangent_, is_dense, of_size_);
    pull(root_, false, of_root_);
    for_events([&](int place) { clear_size_of(place); });
}
/// The cotangent of the state after an event becomes that of the state before it.
template <class Real>
void RowGradient<Real>::pull_jump_of(int place) {
    const LoggedStep& step = steps_[place];
    const double t = solve_.clocks().rows().last[place];
    step_->state_of(place, step_->work(), state_);
    if (!step.ends_lane) {
        step_->state_of(place, cotangent_, column_);
        times_.shift(place) += solve_.events()->pull_jump(step.event, first_ + place, t, state_,
                                                          column_, sums_of(place));
        put_column(place, cotangent_);
    }
    static_cast<void>(solve_.events()->derivatives(step.event, first_ + place, t, state_));
    std::copy_n(solve_.events()->by_y(), problem_->state_size, column_);
    put_column(place, root_);
}
template <class Real>
void RowGradient<Real>::clear_size_of(int place) {
    RowEvents<Real>& events = *solve_.events();
    step_->state_of(place, step_->work(), state_);
    const Real by_t = events.derivatives(steps_[place].event, first_ + place,
                                         solve_.clocks().rows().last[place], state_);
    const Real of_size = times_.shift(place) + of_size_[place];
    if (of_size != 0) {
        // Without a slope there is none: what is infinite becomes no number.
        Real factor = -of_size / (by_t + of_root_[place]);
        factor += factor - factor;
        const RowSums<Real> of_p = sums_of(place);
        for (int c = 0; c < problem_->state_size; ++c)
            cotangent_[c * step_->width() + place] += factor * events.by_y()[c];
        for (int i = 0; i < problem_->parameter_size; ++i) of_p.add(i, factor * events.by_p()[i]);
        times_.shift(place) += factor * by_t;
    }
    times_.size(place) += times_.shift(place);
}

/// No piece of the inputs has got anything.
template <class Real>
void RowGradient<Real>::begin_inputs() {
    std::fill_n(pulled_tstops_, step_->width(), -1);
    std::fill_n(of_inputs_, std::ptrdiff_t{problem_->input_room} * step_->width(), Real(0));
    for (int place = 0; place < count_; ++place)
        for (std::ptrdiff_t i = 0; i < target_.inputs.num_components; ++i)
            target_.inputs(first_ + place, i) = 0;
}
/// The steps that head for a tstop have all been pulled back where those of the round at hand head for another one.
template <class Real>
void RowGradient<Real>::leave_tstops() {
    for (int place = 0; place < count_; ++place) {
        if (pulled_tstops_[place] != steps_[place].tstop) leave_tstop(place);
        pulled_tstops_[place] = steps_[place].tstop;
    }
}
template <class Real>
void RowGradient<Real>::leave_tstop(int place) {
    if (pulled_tstops_[place] < 0 || !is_alive_[place]) return;
    if (problem_->input_room > 0) hand_out_inputs(place);
    if (times_.are_asked()) times_.leave_tstop(place, pulled_tstops_[place]);
}
/// What their piece of the inputs has got.
template <class Real>
void RowGradient<Real>::hand_out_inputs(int place) {
    const std::ptrdiff_t piece = problem_->piece_of(first_ + place, pulled_tstops_[place]);
    for (int i = 0; i < problem_->input_room; ++i) {
        Real& sum = of_inputs_[i * step_->width() + place];
        target_.inputs(first_ + place, piece + i) += sum;
        sum = 0;
    }
}
/// To the state that was given, from behind the impulses at t0, and save points there.
template <class Real>
void RowGradient<Real>::pull_start(int place) {
    const LaneTimes times = problem_->times_of(first_ + place);
    if (!times.saves_before_impulses) add_saves_at_start(place);
    step_->impulses().pull(place, times, times.impulses_at_start(), cotangent_ + place,
                           step_->width());
    if (times_.are_asked()) {
        step_->state_of(place, cotangent_, column_);
        times_.add_impulses_at_start(place, column_);
    }
    add_saves_at_start(place);
}
template <class Real>
void RowGradient<Real>::add_saves_at_start(int place) {
    while (saves_left_[place] > 0) {
        seed_save(place, --saves_left_[place]);
        if (times_.are_asked()) times_.add_start_save(place, saves_left_[place], column_);
        add_to_cotangent(place);
    }
}
/// What the lanes have got.
template <class Real>
void RowGradient<Real>::hand_out(const SharedTarget<Real>& shared, LaneOutcome* outcomes) {
    const int width = step_->width();
    const int num_p = problem_->sums_tile ? 0 : problem_->parameter_size;  // of each lane
    for (int i = 0; problem_->sums_tile && i < problem_->parameter_size; ++i)
        shared.sums[i] += of_p_[i];
    for (int place = 0; place < count_; ++place) {
        if (!is_alive_[place]) continue;
        pull_start(place);
        leave_tstop(place);
        const std::ptrdiff_t lane = first_ + place;
        // A derivative may be infinite where all values are numbers, as that of √y at 0.
        Real nothing = 0;
        for (int c = 0; c < problem_->state_size; ++c) {
            const Real x = cotangent_[c * width + place];
            nothing += x - x;
        }
        for (int i = 0; i < num_p; ++i) {
            const Real x = of_p_[i * width + place];
            nothing += x - x;
        }
        const int num_amounts = step_->impulses().num_amounts();
        for (int k = 0; k < num_amounts; ++k) {
            const Real x = step_->impulses().of_amount(place, k);
            nothing += x - x;
        }
        for (std::ptrdiff_t i = 0; i < target_.inputs.num_components; ++i) {
            const Real x = target_.inputs(lane, i);
            nothing += x - x;
        }
        if (objective_.has_report && !(nothing == 0 && times_.are_finite(place))) {
            outcomes[place].result = Result::non_finite;
            times_.forget(place);
            for (std::ptrdiff_t i = 0; i < target_.inputs.num_components; ++i)
                target_.inputs(lane, i) = 0;
            continue;
        }
        for (int c = 0; c < problem_->state_size; ++c)
            target_.y0(lane, c) += cotangent_[c * width + place];
        for (int k = 0; k < num_amounts; ++k)
            target_.impulse_amounts(lane, k) += step_->impulses().of_amount(place, k);
        for (int i = 0; i < num_p; ++i) {
            const Real x = of_p_[i * width + place];
            if (!problem_->shares_parameters)
                target_.p(lane, i) += x;
            else if (shared.addends)
                shared.addends[lane * num_p + i] += x;
            else
                shared.sums[lane / lanes_per_block * num_p + i] += x;
        }
    }
}

template class RowGradient<double>;
template class RowGradient<float>;

}  // namespace eddy::inline v0::detail
