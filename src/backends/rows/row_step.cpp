#include "row_step.hpp"
#include <algorithm>
#include <cmath>
#include <eddy/steppers/controller/error_norm.hpp>
#include <utility>

namespace eddy::inline v0::detail {

using row_kernels::Shape;
using row_kernels::Sum;

/// Of the first level.
template <class Real>
constexpr int numbers_of_cache = 32768 / sizeof(Real);

template <class Real>
RowStep<Real>::RowStep(const RowProblem<Real>& problem, FieldOnTileOf<Real>& field, bool goes_back,
                       Arena& arena)
    : problem_(&problem),
      method_(problem.method),
      field_(&field),
      kernels_(&row_kernels::of<Real>(problem.is_fused, field.width())),
      impulses_(problem),
      times_(problem.row_times()),
      width_(field.width()),
      num_residuals_(goes_back ? field.num_kept() : 0),
      keeps_stages_(goes_back && !pulls_from_start(problem, field)) {
    // A line apart, so that blocks do not meet in the sets of a cache.
    constexpr int line = 64 / sizeof(Real);
    const auto rows = [&](std::int64_t count) { return arena.take<Real>(count * width_ + line); };
    next_ = rows(problem.state_size);
    work_ = rows(problem.state_size);
    stage_ = rows(problem.state_size);
    time_ = rows(1);
    for (double** row : {&t0_, &lowest_, &highest_})
        *row = arena.take<double>(RowClocks::num_places(width_));
    for (Real** row : {&span_, &row_, &own_h_}) *row = rows(1);
    p_ = arena.take<Real>(problem.size_of_reads(width_) + line);
    loaded_ = arena.take<std::int32_t>(width_);
    loaded_lane_ = arena.take<std::ptrdiff_t>(width_);
    norms_ = arena.take<float>(2 * RowClocks::num_places(width_));
    if (method_->is_implicit()) {
        solved_.emplace(problem, width_, goes_back, arena);
        for (int i = 0; solved_->next() && i < method_->num_dense; ++i) k_[i] = solved_->stage(i);
        return;
    }
    for (int i = 0; i < method_->num_dense; ++i) k_[i] = rows(problem.state_size);
    if (!keeps_stages_) {
        attempts_before_whole_ = attempts_before_step(field, *method_);
        if (attempts_before_whole_) whole_ = long_step_on(field, *method_, *attempts_before_whole_);
    }
    if (!problem.sums_tile) {
        if (!whole_) whole_ = step_on(field, *method_, width_ > 1);
        if (goes_back) whole_back_ = step_back_on(field, *method_, false);
    }
    if (whole_ || attempts_before_whole_ || (goes_back && !problem.sums_tile))
        whole_times_ = rows(method_->num_stages);
    if (whole_ || attempts_before_whole_) errors_ = rows(2 * problem.state_size);
    const int num_read = problem.state_size * width_ * (method_->num_stages + 2);
    sums_ = {*method_, goes_back, width_ > 1 && num_read > numbers_of_cache<Real>, arena};
    sums_.list(k_);
    if (!goes_back) return;
    k_cotangent_ = rows(problem.state_size);
    if (problem.differentiates_times) of_time_ = rows(1);
    for (int i = 0; i < method_->num_dense; ++i) stage_cotangent_[i] = rows(problem.state_size);
}

template <class Real>
bool RowStep<Real>::pulls_from_start(const RowProblem<Real>& problem, FieldOnTileOf<Real>& field) {
    const bool asks_for_stages = problem.differentiates_times || problem.times.num_saves > 1;
    return field.width() > 1 && !problem.sums_tile && !asks_for_stages &&
           field.num_residuals() == 0 && step_back_on(field, *problem.method, false);
}

template <class Real>
void RowStep<Real>::load(int place, std::ptrdiff_t lane, Real* y) {
    for (int c = 0; c < problem_->state_size; ++c) y[c * width_ + place] = problem_->start(lane, c);
    const LaneTimes times = problem_->times_of(lane);
    impulses_.meet(lane, times, times.impulses_at_start(), y + place, width_);
    t0_[place] = times.t0;
    span_[place] = static_cast<Real>(times.span);
    lowest_[place] = times.tstops[0].lowest;
    highest_[place] = times.tstops[0].highest;
    loaded_lane_[place] = -1;  // a call may have parameters of its own
    load_parameters(place, lane);
    load_inputs(place, lane, 0);
}

template <class Real>
void RowStep<Real>::copy_parameters(Real* to) const {
    for (int i = 0; i < problem_->parameter_size; ++i) to[i] = problem_->parameter(0, i);
}

template <class Real>
void RowStep<Real>::copy_reads(int place, const RowClocks& clocks, Real* t, Real* p, int to) {
    set_time(time_, clocks, 0);
    t[to] = time_[place];
    const auto copy = [&](std::ptrdiff_t first, int count) {
        for (std::ptrdiff_t at = first; at < first + std::ptrdiff_t{count} * width_; at += width_)
            p[at + to] = p_[at + place];
    };
    if (problem_->sums_tile)
        copy_parameters(p);
    else
        copy(0, problem_->parameter_size);
    copy(problem_->behind_parameters(width_), problem_->input_room);
}

template <class Real>
void RowStep<Real>::choose_first_sizes(const Real* y, double* sizes) {
    if (problem_->times.dt0 != 0) return static_cast<void>(std::fill_n(sizes, width_, times_.dt0));
    const row_kernels::FirstStep<Real> first{y,     k_[0], work_, next_, stage_,  row_,
                                             time_, sizes, span_, t0_,   lowest_, highest_};
    kernels_->first_times(first, width_, times_);
    field_->f(time_, y, p_, k_[0]);
    kernels_->first_trial(first, shape(), times_, problem_->tolerances);
    field_->f(time_, next_, p_, work_);
    kernels_->first_size(first, shape(), times_, problem_->tolerances, problem_->control.order);
}

template <class Real>
EDDY_INLINE inline void RowStep<Real>::set_time(Real* to, const RowClocks& clocks, double c) const {
    if (field_->reads_time()) kernels_->stage_times(to, clocks.rows(), width_, c);
}
/// Where the state of a stage lies.
template <class Real>
EDDY_INLINE inline Real* RowStep<Real>::place_of(int i, Real* kept, int num_kept) const {
    if (kept && i < num_kept) return kept + std::ptrdiff_t{i} * rows_per_stage() * width_;
    if (ends_step(i)) return next_;
    return i > 0 && sums_.begins_next(i - 1) ? work_ : stage_;
}
template <class Real>
EDDY_INLINE inline void RowStep<Real>::evaluate(int i, const Real* state, Real* residuals,
                                                const RowClocks& clocks) {
    set_time(time_, clocks, method_->c[i]);
    if (residuals)
        field_->forward(time_, state, p_, k_[i], residuals);
    else
        field_->f(time_, state, p_, k_[i]);
}
template <class Real>
void RowStep<Real>::stages(int first, int last, const Real* y, const RowClocks& clocks, Real* kept,
                           int num_kept) {
    if (solved_) {
        if (first >= last) return;
        set_solved_times(clocks);
        return solved_->step(*field_->steps(), y, p_, kept);
    }
    bool is_begun = false;
    for (int i = first; i < last; ++i) {
        const bool is_kept = kept && i < num_kept;
        const bool is_start = i == 0 && !is_kept;  // y itself
        Real* const state = place_of(i, kept, num_kept);
        const double* const row = method_->a + i * method_->num_dense;
        const bool begins_next = sums_.begins_next(i) && i + 1 < last;
        if (begins_next) {
            Real further[Sum<Real>::most];
            int count = 0;
            for (int j = 0; j < i; ++j)
                if (row[j] != 0) further[count++] = static_cast<Real>(method_->a_of(i + 1, j));
            kernels_->two_sums(state, place_of(i + 1, kept, num_kept), y, shape(), h_,
                               sums_.of_stage(i), further);
        } else if (is_begun) {
            Sum<Real> sum;
            sum.add(row[i - 1], k_[i - 1]);
            kernels_->sum_rows(state, state, shape(), h_, sum);
        } else if (!is_start) {
            kernels_->sum_rows(state, y, shape(), h_, sums_.of_stage(i));
        }
        is_begun = begins_next;
        Real* const residuals =
            is_kept ? state + std::ptrdiff_t{problem_->state_size} * width_ : nullptr;
        evaluate(i, is_start ? y : state, residuals, clocks);
    }
}
template <class Real>
bool RowStep<Real>::keeps_dense_stages() const {
    if (method_->is_implicit()) return true;
    return method_->num_dense == method_->num_stages && problem_->times.num_saves > 1;
}
template <class Real>
void RowStep<Real>::take_sizes(const RowClocks& clocks) {
    const double* const h = clocks.rows().h;
    if constexpr (std::is_same_v<Real, double>) {
        h_ = h;
    } else {
        for (int place = 0; place < width_; ++place) own_h_[place] = static_cast<Real>(h[place]);
        h_ = own_h_;
    }
}
template <class Real>
void RowStep<Real>::attempt(const Real* y, const RowClocks& clocks, Real* kept) {
    if (problem_->prescribed) take_prescribed(clocks);
    kernels_->choose_sizes(clocks.rows(), width_, times_, method_->estimates_error);
    if (problem_->events) clocks.take_sought(times_.direction);
    take_sizes(clocks);
    if (!whole_ && attempts_before_whole_) wait_for_whole();
    if (whole_) return attempt_whole(y, clocks, kept);
    const int last = method_->num_stages;
    const bool keeps_all = kept && keeps_dense_stages();
    stages(has_first_stage_ && !kept ? 1 : 0, last, y, clocks, kept,
           keeps_all ? last : method_->num_needed);
    if (keeps_all || !ends_step(last - 1)) next_state(y, next_);
}
template <class Real>
void RowStep<Real>::wait_for_whole() {
    attempts_before_whole_->fetch_add(width_, std::memory_order_relaxed);
    whole_ = long_step_on(*field_, *method_, *attempts_before_whole_);
}
template <class Real>
void RowStep<Real>::set_whole_times(const RowClocks& clocks) {
    for (int i = 0; i < method_->num_stages; ++i)
        set_time(whole_times_ + std::ptrdiff_t{i} * width_, clocks, method_->c[i]);
}
template <class Real>
void RowStep<Real>::attempt_whole(const Real* y, const RowClocks& clocks, Real* kept) {
    if (!kept && !has_first_stage_) stages(0, 1, y, clocks, nullptr);
    set_whole_times(clocks);
    const typename ExplicitStepOnTile<Real>::Reads from{whole_times_, y, p_, h_};
    whole_->attempt(from, next_, errors_, k_, kept,
                    keeps_dense_stages() ? method_->num_stages : method_->num_needed,
                    leaves_stages());
}
template <class Real>
void RowStep<Real>::pull_whole(const RowClocks& clocks, const Real* from, bool is_kept,
                               const Real* next_cotangent, Real* cotangent, Real* of_p) {
    set_whole_times(clocks);
    whole_back_->pull({whole_times_, from, p_, h_}, is_kept, next_cotangent, cotangent, of_p);
}
template <class Real>
Sum<Real> RowStep<Real>::error_of(bool is_coarse) const {
    if (!whole_) return is_coarse ? sums_.coarse_error() : sums_.error();
    Sum<Real> error;
    error.add(1, errors_ + (is_coarse ? std::ptrdiff_t{state_size()} * width_ : 0));
    return error;
}
template <class Real>
void RowStep<Real>::next_state(const Real* y, Real* to) const {
    if (solved_)
        std::copy_n(solved_->next(), std::ptrdiff_t{problem_->state_size} * width_, to);
    else
        kernels_->sum_rows(to, y, shape(), h_, sums_.next());
}
template <class Real>
bool RowStep<Real>::judge(const Real* y, const RowClocks& clocks) {
    if (!method_->estimates_error) {
        kernels_->finite_sums(norms_, row_, next_, own_shape());
        for (int place = 0; solved_ && place < width_; ++place)
            if (solved_->has_failed(place)) norms_[place] = 0;
        return kernels_->judge_constant(clocks.rows(), width_, times_, norms_);
    }
    return kernels_->judge(clocks.rows(), width_, times_, problem_->control, measure_all(y));
}
template <class Real>
bool RowStep<Real>::judge_jointly(const RowClocks& clocks, float squared_norm) {
    std::fill_n(norms_, RowClocks::num_places(width_), squared_norm);
    return kernels_->judge(clocks.rows(), width_, times_, problem_->control, norms_);
}
template <class Real>
const float* RowStep<Real>::measure_all(const Real* y) {
    if (solved_) {
        Sum<Real> error;
        error.add(1, solved_->error());
        measure(norms_, error, y);
        for (int place = 0; place < width_; ++place)
            if (solved_->has_failed(place)) norms_[place] = std::numeric_limits<float>::infinity();
        return norms_;
    }
    measure(norms_, error_of(false), y);
    if (method_->b_coarse) {
        float* const coarse = norms_ + RowClocks::num_places(width_);
        measure(coarse, error_of(true), y);
        kernels_->combine_norms(norms_, coarse, width_);
    }
    return norms_;
}
/// The sizes that steps are to have which begin where the lanes are.
template <class Real>
void RowStep<Real>::take_prescribed(const RowClocks& clocks) const {
    const row_kernels::Clocks& rows = clocks.rows();
    for (int place = 0; place < width_; ++place)
        rows.size[place] = problem_->prescribed.size_at(
            LaunchLane{problem_->shares_steps ? 0 : loaded_lane_[place]}, rows.elapsed[place]);
}
template <class Real>
bool RowStep<Real>::has_finite_slope(int place) const {
    for (int c = 0; c < problem_->own_size(); ++c)
        if (!std::isfinite(k_[0][c * width_ + place])) return false;
    return true;
}
/// The squared norms of an estimate of the error.
template <class Real>
void RowStep<Real>::measure(float* norms, const Sum<Real>& error, const Real* y) {
    kernels_->squared_norms(norms, error, work_, y, next_, own_shape(), error_sizes(),
                            problem_->tolerances);
    if (problem_->counts_tangents) count_tangent(norms, error, y);
}
/// Adds the norm of the tangent, by the same tolerances: lane/attempt_error.hpp.
template <class Real>
void RowStep<Real>::count_tangent(float* norms, Sum<Real> error, const Real* y) {
    const std::ptrdiff_t behind = own_block();
    for (int j = 0; j < error.count; ++j) error.x[j] += behind;
    alignas(64) float of_tangent[row_kernels::widest];
    kernels_->squared_norms(of_tangent, error, work_, y + behind, next_ + behind, own_shape(),
                            error_sizes(), problem_->tolerances);
    for (int place = 0; place < width_; ++place)
        norms[place] = 0.5f * (norms[place] + of_tangent[place]);
}
template <class Real>
const Real* RowStep<Real>::tangent_errors() {
    if (solved_) return solved_->error() + own_block();
    Sum<Real> error = error_of(false);
    for (int j = 0; j < error.count; ++j) error.x[j] += own_block();
    if (whole_) return error.x[0];
    kernels_->sum_rows(work_, nullptr, {state_size() - problem_->own_size(), width_}, nullptr,
                       error);
    return work_;
}
template <class Real>
void RowStep<Real>::accept(Real*& y, const RowClocks& clocks, bool swapped) {
    const double* const used = clocks.rows().used;
    const auto is_accepted = [](double size) { return size > 0; };
    const bool all = std::all_of(used, used + width_, is_accepted);
    const bool carries = method_->carries_last && !keeps_stages_;
    Real*& last = k_[method_->num_stages - 1];
    if (all) {
        if (swapped)
            std::swap(y, next_);
        else
            std::copy_n(next_, std::ptrdiff_t{state_size()} * width_, y);
        if (carries) {
            std::swap(k_[0], last);
            sums_.swap();
        }
    } else if (std::any_of(used, used + width_, is_accepted)) {
        const Real* chosen = row_;
        if constexpr (std::is_same_v<Real, double>)
            chosen = used;
        else
            std::transform(used, used + width_, row_, is_accepted);
        kernels_->choose_rows(y, next_, shape(), chosen);
        if (carries) kernels_->choose_rows(k_[0], last, shape(), chosen);
    }
    has_first_stage_ = carries;
}

template <class Real>
void RowStep<Real>::complete_stages(const Real* y, const RowClocks& clocks) {
    stages(whole_ && !leaves_stages() ? 0 : method_->num_stages, method_->num_dense, y, clocks,
           nullptr);
}
template <class Real>
void RowStep<Real>::state_of(int place, const Real* rows, Real* state) const {
    for (int c = 0; c < problem_->state_size; ++c) state[c] = rows[c * width_ + place];
}
template <class Real>
void RowStep<Real>::put_state(int place, const Real* state, Real* rows) const {
    for (int c = 0; c < problem_->state_size; ++c) rows[c * width_ + place] = state[c];
}
template <class Real>
void RowStep<Real>::dense_weights(double theta, Real* weights) const {
    if (method_->rosenbrock) return solved_->dense_weights(static_cast<Real>(theta), weights);
    kernels_->dense_weights(weights, method_->dense, method_->num_dense, method_->num_powers,
                            static_cast<Real>(theta));
}
template <class Real>
void RowStep<Real>::state_within(int place, const Real* y, double theta, Real* state) const {
    if (method_->rosenbrock)
        return solved_->state_within(place, y, next_, static_cast<Real>(theta), state);
    Real weights[MethodOnRows::most_stages];
    dense_weights(theta, weights);
    state_of(place, y, state);
    const Real h = method_->esdirk ? 1 : h_[place];
    for (int i = 0; i < method_->num_dense; ++i) {
        if (weights[i] == 0) continue;
        kernels_->add_column(state, 1, h * weights[i], k_[i] + place, width_, problem_->state_size);
    }
}
template <class Real>
Blame RowStep<Real>::blame(int place, const Real* y) const {
    return detail::blame(problem_->own_size(), [&](int c) {
        const std::ptrdiff_t at = std::ptrdiff_t{c} * width_ + place;
        if (!method_->estimates_error) return next_[at];
        Real error = whole_ ? errors_[at] : 0;
        for (int i = 0; !solved_ && !whole_ && i < method_->num_stages; ++i)
            error = mul_add(static_cast<Real>(method_->b_error[i]), k_[i][at], error);
        error = solved_ ? solved_->error()[at] : h_[place] * error;
        const auto scaled = scaled_error(error, y[at], next_[at], problem_->tolerances.rtol,
                                         problem_->tolerances.atol[c]);
        return (scaled.x + (next_[at] - next_[at])) / scaled.scale;
    });
}

template <class Real>
void RowStep<Real>::pull(int count, const RowClocks& clocks, const Real* kept,
                         Real* const* of_stages, const Real* next_cotangent, Real* cotangent,
                         Real* of_p, const RowTimeCotangents<Real>& of_times) {
    if (solved_) {
        set_solved_times(clocks);
        solved_->pull(*field_->steps(), p_, kept, of_stages, next_cotangent, cotangent, of_p);
        if (of_times.t) solved_->add_times(*field_->steps(), kept, p_, of_times);
        return;
    }
    if (whole_back_ && !of_stages && !of_times.t && !of_times.dt && count == method_->num_needed)
        return pull_whole(clocks, kept, true, next_cotangent, cotangent, of_p);
    Sum<Real>* const sums = sums_.back(count, stage_cotangent_);
    for (int i = count - 1; i >= 0; --i) {
        if (method_->b[i] != 0) sums[i].x[0] = next_cotangent;
        kernels_->sum_rows(k_cotangent_, nullptr, shape(), h_, sums[i]);
        if (of_times.dt) add_sizes(i, of_times.dt);
        if (of_stages) kernels_->add_rows(k_cotangent_, of_stages[i], shape());
        const Real* const state = kept + std::ptrdiff_t{i} * rows_per_stage() * width_;
        set_time(time_, clocks, method_->c[i]);
        field_->pull(time_, state, p_, state + std::ptrdiff_t{problem_->state_size} * width_,
                     k_cotangent_, stage_cotangent_[i], of_p);
        if (of_times.t && field_->reads_time()) add_times(i, state, of_times);
    }
    kernels_->sum_rows(cotangent, next_cotangent, shape(), nullptr, sums[method_->num_dense]);
}
/// What the size of a step gets of stage i, whose state it scales.
template <class Real>
void RowStep<Real>::add_sizes(int i, Real* dt) const {
    for (int place = 0; place < width_; ++place) {
        Real sum = 0;
        for (std::ptrdiff_t at = place; at < std::ptrdiff_t{state_size()} * width_; at += width_)
            sum += k_[i][at] * k_cotangent_[at];
        dt[place] += sum / h_[place];
    }
}
/// What times get of the time of stage i.
template <class Real>
void RowStep<Real>::add_times(int i, const Real* state, const RowTimeCotangents<Real>& of_times) {
    field_->pull_time(time_, state, p_, k_cotangent_, of_time_);
    const auto c = static_cast<Real>(method_->c[i]);
    for (int place = 0; place < width_; ++place) {
        of_times.t[place] += of_time_[place];
        if (of_times.dt) of_times.dt[place] += c * of_time_[place];
    }
}
template <class Real>
void RowStep<Real>::dense_cotangents(int place, double theta, const Real* seed, Real& along,
                                     Real& moved) const {
    if (method_->rosenbrock) {
        along += solved_->slope_within(place, theta, seed) / h_[place];
        return;
    }
    Real weights[MethodOnRows::most_stages];
    dense_weights(theta, weights);
    // Where dense output is of lower order, steps land at save points: the slope there is that of the last stage.
    const bool lands = method_->esdirk && method_->steps_to_save_points && theta == 1;
    for (int i = lands ? method_->num_dense - 1 : 0; i < method_->num_dense; ++i) {
        Real stage = 0;
        for (int c = 0; c < state_size(); ++c)
            stage += seed[c] * k_[i][std::ptrdiff_t{c} * width_ + place];
        double slope = 0;
        for (int m = method_->num_powers; m-- > 0;)
            slope = slope * theta + (m + 1) * method_->dense[i * method_->num_powers + m];
        if (lands) slope = 1 / method_->esdirk->gamma;
        along += static_cast<Real>(slope) * (method_->esdirk ? stage / h_[place] : stage);
        if (!method_->esdirk) moved += weights[i] * stage;  // z_i has the size of the step
    }
}
template <class Real>
void RowStep<Real>::slope_of(int place, std::ptrdiff_t lane, std::int32_t tstop, double t,
                             const Real* state, Real* slope) {
    const std::ptrdiff_t lane_before = loaded_lane_[place];
    const std::int32_t tstop_before = loaded_[place];
    load_parameters(place, lane);
    load_inputs(place, lane, tstop);
    std::fill_n(time_, width_, static_cast<Real>(t));
    // In all places: numbers that the equation can take.
    for (int c = 0; c < state_size(); ++c)
        std::fill_n(stage_ + std::ptrdiff_t{c} * width_, width_, state[c]);
    field_->f(time_, stage_, p_, work_);
    state_of(place, work_, slope);
    load_parameters(place, lane_before);
    load_inputs(place, lane_before, tstop_before);
}

template <class Real>
void RowStep<Real>::set_solved_times(const RowClocks& clocks) {
    solved_->begin(h_, [&](Real* to, double c) { set_time(to, clocks, c); });
}
template class RowStep<double>;
template class RowStep<float>;

}  // namespace eddy::inline v0::detail
