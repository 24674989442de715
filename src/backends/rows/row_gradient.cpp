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
      num_tiles_(refills(problem, objective.by_lane)
                     ? (plan.num_lanes + field.width() - 1) / field.width()
                     : 1),
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
    got_ = num_tiles_ > 1 ? rows(num_tiles_ * problem.state_size) : cotangent_;
    got_p_ = num_tiles_ > 1 ? rows(num_tiles_ * problem.parameter_size) : of_p_;
    const std::int64_t num_kept_saves =
        objective.by_lane ? 0 : std::int64_t{num_tiles_} * problem.times.num_saves;
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
    saves_left_ = arena.take<std::int32_t>(most_lanes());
    num_saved_ = arena.take<std::int32_t>(most_lanes());
    back_ = arena.take<std::int32_t>(width);
    pulled_tstops_ = arena.take<std::int32_t>(width);
    is_alive_ = arena.take<bool>(most_lanes());
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
    std::fill_n(num_saved_, most_lanes(), 0);
    log_.begin(step_->width(), num_kept_);
    if (problem_->events)
        std::fill_n(end_time_, step_->width(), std::numeric_limits<double>::quiet_NaN());
    // Lanes begin as long as there is room for what their rounds keep.
    solve_.refill_until(std::min(log_.num_first(), num_kept_));
    constexpr std::int64_t line = RowNumbers<Real>::size;
    start_.numbers.resize(static_cast<std::size_t>((block() + line - 1) / line));
    solve_.begin(first, count, *this, outcomes, start_.y());
    start_.clocks.clear();
    carry_clocks(start_);
}
template <class Real>
bool RowGradient<Real>::save(std::ptrdiff_t lane, int place, std::int32_t k, const Real* state) {
    const auto of_run = static_cast<std::int32_t>(lane - first_);
    if (objective_.by_lane) {
        if (!objective_.by_lane->save(lane, place, k, state)) return false;
    } else {
        Real* const at = saved(tile_of_lane(of_run), k) + place_in_tile(of_run);
        for (int c = 0; c < problem_->state_size; ++c) at[c * step_->width()] = state[c];
    }
    num_saved_[of_run] = k + 1;
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
    change_lanes(round, y);
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
/// Lanes that began behind a round in place of others.
template <class Real>
void RowGradient<Real>::change_lanes(std::int64_t round, Real* y) {
    if (num_tiles_ == 1 || round + 1 >= std::min(num_rounds_, log_.num_first())) return;
    const LoggedStep* const next = log_.row(round + 1);
    for (int place = 0; place < step_->width(); ++place)
        if (next[place].lane != steps_[place].lane)
            step_->load(place, first_ + next[place].lane, y);
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
    log_round(log_.row(round));
    solve_.go_on(y);
    ++num_rounds_;
    carry_clocks(x);
}
/// A row of the log: what lanes have done.
template <class Real>
void RowGradient<Real>::log_round(LoggedStep* row) {
    const row_kernels::Clocks& rows = solve_.clocks().rows();
    for (int place = 0; place < step_->width(); ++place) {
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
    log_round(row);
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
        [&](int place) { return steps_[place].size > 0 && (!if_alive || is_alive(place)); });
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

/// Rounds of several tiles keep more than caches hold, which makes them some 1.5 times as long: that pays where lanes
/// are idle half of the time.
template <class Real>
void RowGradient<Real>::learn(const LaneOutcome* outcomes) {
    std::int64_t sum = 0, most = 0;
    for (std::int32_t lane = 0; lane < count_; ++lane) {
        const std::int64_t attempts = outcomes[lane].accepted + outcomes[lane].rejected;
        sum += attempts;
        most = std::max(most, attempts);
    }
    refills_ = 20 * sum < 11 * most * count_;
}

// Losses

/// Parameters, then a save point's data; lanes that have not come to it have those of numbers that some lane has.
template <class Real>
void RowGradient<Real>::load_loss(int tile, std::int32_t k) {
    const int width = step_->width();
    const EnsembleView<const Real> data = objective_.arrays.empty()
                                              ? EnsembleView<const Real>{}
                                              : objective_.arrays[static_cast<std::size_t>(k)];
    for (int place = 0; place < width; ++place) {
        const std::int32_t of_run = tile * width + place;
        const std::ptrdiff_t lane = first_ + std::min(of_run, count_ - 1);
        const std::ptrdiff_t of_p = problem_->row_of_p(lane);
        for (int i = 0; !problem_->sums_tile && i < problem_->parameter_size; ++i)
            loss_p_[i * width + place] = problem_->p(of_p, i);
        const int num_data = objective_.loss->num_parameters() - problem_->parameter_size;
        for (int i = 0; i < num_data; ++i)
            data_of_loss()[i * width + place] = data(data.num_lanes == 1 ? 0 : lane, i);
        const bool is_there = of_run < count_ && num_saved_[of_run] > k;
        loss_t_[place] =
            static_cast<Real>(is_there ? time_of_save(of_run, k) : problem_->times_of(lane).t0);
        if (!is_there)
            for (int c = 0; c < problem_->state_size; ++c)
                saved(tile, k)[c * width + place] = problem_->y0(lane, c);
    }
}
/// The values of the losses, and which lanes fail by them.
template <class Real>
void RowGradient<Real>::measure_losses(LaneOutcome* outcomes) {
    if (!objective_.loss) return;
    FieldOnTileOf<Real>& loss = *objective_.loss;
    const std::int32_t num_saves = problem_->times.num_saves, width = step_->width();
    for (std::int32_t i = 0; i < (tile_of_lane(count_ - 1) + 1) * num_saves; ++i) {
        const std::int32_t tile = i / num_saves, k = i % num_saves;
        load_loss(tile, k);
        loss.forward(loss_t_, saved(tile, k), loss_p_, loss_value_, loss_kept_);
        const std::int32_t end = std::min(count_, (tile + 1) * width);
        for (std::int32_t lane = tile * width; lane < end; ++lane) {
            if (num_saved_[lane] <= k || is_failure(outcomes[lane].result)) continue;
            Real& sum = objective_.of_lane(first_ + lane, 0);
            sum += loss_value_[place_in_tile(lane)];
            if (std::isfinite(sum)) continue;
            outcomes[lane].result = Result::loss_not_finite;
            outcomes[lane].component = k;
            outcomes[lane].t = time_of_save(lane, k);
            step_->state_of(place_in_tile(lane), saved(tile, k), column_);
            if (team_->call().wants_states())
                team_->call().keep_state(
                    first_ + lane, std::vector<double>(column_, column_ + problem_->own_size()));
        }
    }
}
/// The cotangents of save points, and what losses ask of parameters.
template <class Real>
void RowGradient<Real>::seed_losses() {
    const int width = step_->width(), num_saves = problem_->times.num_saves;
    // Of a loss with a tangent, that is what is pulled back.
    std::fill_n(loss_c_, problem_->num_tangents * width, Real(0));
    std::fill_n(loss_c_ + problem_->num_tangents * width, width, Real(1));
    const int num_points = (tile_of_lane(count_ - 1) + 1) * num_saves;
    for (std::int32_t i = 0; i < num_points; ++i) {
        const int tile = i / num_saves, k = i % num_saves;
        if (num_points > 1) {
            load_loss(tile, k);
            objective_.loss->forward(loss_t_, saved(tile, k), loss_p_, loss_value_, loss_kept_);
        }
        seed_losses_at(tile, k);
    }
}
template <class Real>
void RowGradient<Real>::seed_losses_at(int tile, std::int32_t k) {
    FieldOnTileOf<Real>& loss = *objective_.loss;
    const int width = step_->width();
    choose_lanes([&](int place) {
        const std::int32_t lane = tile * width + place;
        return lane < count_ && is_alive_[lane] && num_saved_[lane] > k;
    });
    loss.sum_over(lanes_, num_taking_part_, 1);
    if (!problem_->sums_tile)
        std::fill_n(loss_of_p_, std::int64_t{loss.num_parameters()} * width, Real(0));
    loss.pull(loss_t_, saved(tile, k), loss_p_, loss_kept_, loss_c_, seeds(tile, k), loss_of_p_);
    if (times_.are_asked()) {
        loss.pull_time(loss_t_, saved(tile, k), loss_p_, loss_c_, loss_of_t_);
        for (int i = 0; i < num_taking_part_; ++i) {
            const int place = lanes_[i];
            if (ends_at_event(place))
                times_.shift(place) += loss_of_t_[place];
            else
                times_.add_save_time(place, k, loss_of_t_[place]);
        }
    }
    Real* const of_p = got_p_ + std::int64_t{tile} * num_own_p() * width;
    for (int i = 0; i < num_own_p(); ++i)
        for (int place = 0; place < width; ++place)
            if (chosen_[place] > 0) of_p[i * width + place] += loss_of_p_[i * width + place];
}
template <class Real>
void RowGradient<Real>::seed_cotangents() {
    for (std::int32_t k = 0; k < problem_->times.num_saves; ++k) {
        const EnsembleView<const Real>& given = objective_.arrays[static_cast<std::size_t>(k)];
        for (std::int32_t lane = 0; lane < count_; ++lane)
            for (int c = 0; c < problem_->state_size; ++c)
                seeds(tile_of_lane(lane), k)[c * step_->width() + place_in_tile(lane)] =
                    given(given.num_lanes == 1 ? 0 : first_ + lane, c);
    }
}

// Back

template <class Real>
void RowGradient<Real>::begin_back(LaneOutcome* outcomes) {
    const int width = step_->width();
    std::fill_n(got_p_,
                std::int64_t{problem_->parameter_size} * (problem_->sums_tile ? 1 : most_lanes()),
                Real(0));
    begin_inputs();
    times_.begin(target_, first_, count_);
    for (std::int32_t lane = 0; lane < most_lanes(); ++lane) {
        is_alive_[lane] = lane < count_ && !is_failure(outcomes[lane].result);
        saves_left_[lane] = is_alive_[lane] ? num_saved_[lane] : 0;
    }
    step_->impulses().begin_back();
    if (objective_.loss)
        seed_losses();
    else if (!objective_.by_lane)
        seed_cotangents();
    for (int place = 0; place < width; ++place) take_back(place, solve_.begun(place));
}
/// A lane goes back in a place, with what losses have asked of its parameters.
template <class Real>
void RowGradient<Real>::take_back(int place, std::int32_t lane) {
    back_[place] = lane;
    for (int c = 0; c < problem_->state_size; ++c) cotangent_[c * step_->width() + place] = 0;
    copy_column(column_of(got_p_, num_own_p(), lane), of_p_ + place, num_own_p());
}
/// It is at its start, and leaves what it has got.
template <class Real>
void RowGradient<Real>::leave_back(int place) {
    if (place >= count_ || !is_alive(place)) return;
    pull_start(place);
    leave_tstop(place);
    const std::int32_t lane = back_[place];
    copy_column(cotangent_ + place, column_of(got_, problem_->state_size, lane),
                problem_->state_size);
    copy_column(of_p_ + place, column_of(got_p_, num_own_p(), lane), num_own_p());
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
    for (int place = 0; place < std::min(count_, width); ++place) {
        const LoggedStep& step = steps_[place];
        if (step.size == 0) continue;
        std::int32_t& left = saves_left_[step.lane];
        const LaneTimes times = problem_->times_of(first_ + step.lane);
        const ImpulseRange& met = times.tstops[step.tstop].impulses;
        if (lands(step, times))
            step_->impulses().pull(place, times, met, cotangent_ + place, width);
        if (step.ends_lane && ends_at_event(place) && left > 0) {
            seed_save(place, --left);
            add_to_cotangent(place);
        }
        while (left > 0 && times.saves[left - 1] > step.before) {
            const std::int32_t k = --left;
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
    const std::int32_t lane = back_[place];
    if (!objective_.by_lane)
        return step_->state_of(place_in_tile(lane), seeds(tile_of_lane(lane), k), column_);
    objective_.by_lane->pull_save(first_ + place, k, column_, sums_of(place));
}
template <class Real>
void RowGradient<Real>::add_time_of_save(int place, std::int32_t k) {
    if (objective_.by_lane)
        objective_.by_lane->state_at(first_ + place, k, state_);
    else
        step_->state_of(place, saved(0, k), state_);
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
        if (step.size == 0 || !is_alive(place)) continue;
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
    for (int place = 0; place < step_->width(); ++place) {
        if (steps_[place].lane == back_[place]) continue;
        leave_back(place);
        take_back(place, steps_[place].lane);
    }
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
        if (steps_[place].meets_event() && is_alive(place)) return true;
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
    if (pulled_tstops_[place] < 0 || !is_alive(place)) return;
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
    const LaneTimes times = problem_->times_of(first_ + back_[place]);
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
    std::int32_t& left = saves_left_[back_[place]];
    while (left > 0) {
        seed_save(place, --left);
        if (times_.are_asked()) times_.add_start_save(place, left, column_);
        add_to_cotangent(place);
    }
}
/// What the lanes have got.
template <class Real>
void RowGradient<Real>::hand_out(const SharedTarget<Real>& shared, LaneOutcome* outcomes) {
    const int width = step_->width();
    const int num_p = num_own_p();
    for (int i = 0; problem_->sums_tile && i < problem_->parameter_size; ++i)
        shared.sums[i] += of_p_[i];
    for (int place = 0; place < width; ++place) leave_back(place);
    for (std::int32_t of_run = 0; of_run < count_; ++of_run) {
        if (!is_alive_[of_run]) continue;
        const int place = place_in_tile(of_run);
        const std::ptrdiff_t lane = first_ + of_run;
        const Real* const got = column_of(got_, problem_->state_size, of_run);
        const Real* const got_p = column_of(got_p_, num_p, of_run);
        // A derivative may be infinite where all values are numbers, as that of √y at 0.
        Real nothing = 0;
        for (int c = 0; c < problem_->state_size; ++c) {
            const Real x = got[c * width];
            nothing += x - x;
        }
        for (int i = 0; i < num_p; ++i) {
            const Real x = got_p[i * width];
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
            outcomes[of_run].result = Result::non_finite;
            times_.forget(place);
            for (std::ptrdiff_t i = 0; i < target_.inputs.num_components; ++i)
                target_.inputs(lane, i) = 0;
            continue;
        }
        for (int c = 0; c < problem_->state_size; ++c) target_.y0(lane, c) += got[c * width];
        for (int k = 0; k < num_amounts; ++k)
            target_.impulse_amounts(lane, k) += step_->impulses().of_amount(place, k);
        for (int i = 0; i < num_p; ++i) {
            const Real x = got_p[i * width];
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
