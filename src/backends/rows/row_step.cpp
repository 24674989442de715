#include "row_step.hpp"
#include <algorithm>
#include <cmath>
#include <eddy/steppers/controller/error_norm.hpp>
#include <utility>

namespace eddy::inline v0::detail {

using row_kernels::Shape;
using row_kernels::Sum;

/// Of the first level.
constexpr int numbers_of_cache = 4096;

RowStep::RowStep(const RowProblem& problem, FieldOnTile& field, bool goes_back, Arena& arena)
    : problem_(&problem),
      method_(problem.method),
      field_(&field),
      kernels_(&row_kernels::of(problem.is_fused)),
      times_(problem.row_times()),
      width_(field.width()),
      num_residuals_(goes_back ? field.num_residuals() : 0),
      goes_back_(goes_back),
      is_large_(width_ > 1 &&
                problem.state_size * width_ * (method_->num_stages + 2) > numbers_of_cache) {
    plan_pairs();
    // A line apart, so that blocks do not meet in the sets of a cache.
    constexpr int line = 8;
    const auto rows = [&](std::int64_t count) { return arena.take<double>(count * width_ + line); };
    next_ = rows(problem.state_size);
    work_ = rows(problem.state_size);
    stage_ = rows(problem.state_size);
    time_ = rows(1);
    for (double** row : {&t0_, &span_, &lowest_, &highest_}) *row = rows(1);
    finite_ = rows(1);
    p_ = problem.sums_tile ? arena.take<double>(problem.parameter_size)
                           : rows(problem.parameter_size);
    norms_ = arena.take<float>(2 * RowClocks::num_places(width_));
    for (int i = 0; i < method_->num_dense; ++i) k_[i] = rows(problem.state_size);
    if (!goes_back) return;
    k_cotangent_ = rows(problem.state_size);
    for (int i = 0; i < method_->num_dense; ++i) stage_cotangent_[i] = rows(problem.state_size);
}

void RowStep::load(int place, std::ptrdiff_t lane, double* y) {
    for (int c = 0; c < problem_->state_size; ++c) y[c * width_ + place] = problem_->y0(lane, c);
    const LaneTimes times = problem_->times_of(lane);
    t0_[place] = times.t0;
    span_[place] = times.span;
    lowest_[place] = times.tstops[0].lowest;
    highest_[place] = times.tstops[0].highest;
    if (problem_->sums_tile) return;
    const std::ptrdiff_t row = problem_->row_of_p(lane);
    for (int i = 0; i < problem_->parameter_size; ++i) p_[i * width_ + place] = problem_->p(row, i);
}

void RowStep::copy_parameters(double* to) const {
    for (int i = 0; i < problem_->parameter_size; ++i) to[i] = problem_->p(0, i);
}

void RowStep::choose_first_sizes(const double* y, double* sizes) {
    if (problem_->times.dt0 != 0) return static_cast<void>(std::fill_n(sizes, width_, times_.dt0));
    const row_kernels::FirstStep first{y,     k_[0], work_, next_, stage_,  finite_,
                                       time_, sizes, t0_,   span_, lowest_, highest_};
    kernels_->first_times(first, width_, times_);
    field_->f(time_, y, p_, k_[0]);
    kernels_->first_trial(first, shape(), times_, problem_->tolerances);
    field_->f(time_, next_, p_, work_);
    kernels_->first_size(first, shape(), times_, problem_->tolerances, problem_->control.order);
}

void RowStep::set_time(const RowClocks& clocks, double c) {
    if (field_->reads_time()) kernels_->stage_times(time_, clocks.rows(), width_, c);
}
Sum RowStep::stage_sum(const double* weights, int count) const {
    Sum sum;
    for (int j = 0; j < count; ++j) sum.add(weights[j], k_[j]);
    return sum;
}
/// Stages lie beyond the first-level cache: what a sum reads of them serves the next one, too, where both leave out
/// the same ones.
void RowStep::plan_pairs() {
    for (int i = 1; is_large_ && i + 1 < method_->num_dense; ++i) {
        int count = 0;
        bool are_alike = !begins_next_[i - 1];
        for (int j = 0; j < i; ++j) {
            const bool is_read = method_->a_of(i, j) != 0;
            are_alike = are_alike && is_read == (method_->a_of(i + 1, j) != 0);
            count += is_read ? 1 : 0;
        }
        begins_next_[i] = are_alike && count <= row_kernels::Kernels::most_shared;
    }
}
/// Where the state of a stage lies.
double* RowStep::place_of(int i, double* kept, int num_kept) const {
    if (kept && i < num_kept) return kept + std::ptrdiff_t{i} * rows_per_stage() * width_;
    if (ends_step(i)) return next_;
    return i > 0 && begins_next_[i - 1] ? work_ : stage_;
}
void RowStep::evaluate(int i, const double* state, double* residuals, const RowClocks& clocks) {
    set_time(clocks, method_->c[i]);
    if (residuals)
        field_->forward(time_, state, p_, k_[i], residuals);
    else
        field_->f(time_, state, p_, k_[i]);
}
void RowStep::stages(int first, int last, const double* y, const RowClocks& clocks, double* kept,
                     int num_kept) {
    const double* const h = clocks.rows().h;
    bool is_begun = false;
    for (int i = first; i < last; ++i) {
        const bool is_kept = kept && i < num_kept;
        const bool is_start = i == 0 && !is_kept;  // y itself
        double* const state = place_of(i, kept, num_kept);
        const double* const row = method_->a + i * method_->num_dense;
        const bool begins_next = begins_next_[i] && i + 1 < last;
        if (begins_next) {
            double further[row_kernels::Sum::most];
            int count = 0;
            for (int j = 0; j < i; ++j)
                if (row[j] != 0) further[count++] = method_->a_of(i + 1, j);
            kernels_->two_sums(state, place_of(i + 1, kept, num_kept), y, shape(), h,
                               stage_sum(row, i), further);
        } else if (is_begun) {
            Sum sum;
            sum.add(row[i - 1], k_[i - 1]);
            kernels_->sum_rows(state, state, shape(), h, sum);
        } else if (!is_start) {
            kernels_->sum_rows(state, y, shape(), h, stage_sum(row, i));
        }
        is_begun = begins_next;
        double* const residuals =
            is_kept ? state + std::ptrdiff_t{problem_->state_size} * width_ : nullptr;
        evaluate(i, is_start ? y : state, residuals, clocks);
    }
}
bool RowStep::keeps_dense_stages() const {
    return method_->num_dense == method_->num_stages && problem_->times.num_saves > 1;
}
void RowStep::attempt(const double* y, const RowClocks& clocks, double* kept) {
    kernels_->choose_sizes(clocks.rows(), width_, times_, method_->estimates_error);
    const int last = method_->num_stages;
    const bool keeps_all = kept && keeps_dense_stages();
    stages(has_first_stage_ && !kept ? 1 : 0, last, y, clocks, kept,
           keeps_all ? last : method_->num_needed);
    if (keeps_all || !ends_step(last - 1)) next_state(y, clocks, next_);
}
void RowStep::next_state(const double* y, const RowClocks& clocks, double* to) const {
    kernels_->sum_rows(to, y, shape(), clocks.rows().h, stage_sum(method_->b, method_->num_needed));
}
bool RowStep::judge(const double* y, const RowClocks& clocks) {
    if (!method_->estimates_error) {
        kernels_->finite_sums(finite_, next_, shape());
        return kernels_->judge_constant(clocks.rows(), width_, times_, finite_);
    }
    measure(norms_, method_->b_error, y, clocks);
    if (method_->b_coarse) {
        float* const coarse = norms_ + RowClocks::num_places(width_);
        measure(coarse, method_->b_coarse, y, clocks);
        kernels_->combine_norms(norms_, coarse, width_);
    }
    return kernels_->judge(clocks.rows(), width_, times_, problem_->control, norms_);
}
/// The squared norms of an estimate of the error.
void RowStep::measure(float* norms, const double* weights, const double* y,
                      const RowClocks& clocks) {
    kernels_->squared_norms(norms, stage_sum(weights, method_->num_stages), work_, y, next_,
                            shape(), clocks.rows().h, problem_->tolerances);
}
void RowStep::accept(double*& y, const RowClocks& clocks, bool swapped) {
    const double* const used = clocks.rows().used;
    const auto is_accepted = [](double size) { return size > 0; };
    const bool all = std::all_of(used, used + width_, is_accepted);
    double*& last = k_[method_->num_stages - 1];
    if (swapped && all) {
        std::swap(y, next_);
        if (method_->carries_last) std::swap(k_[0], last);
    } else if (all || std::any_of(used, used + width_, is_accepted)) {
        kernels_->choose_rows(y, next_, shape(), used);
        if (method_->carries_last && !goes_back_) kernels_->choose_rows(k_[0], last, shape(), used);
    }
    has_first_stage_ = method_->carries_last && !goes_back_;
}

void RowStep::complete_stages(const double* y, const RowClocks& clocks) {
    stages(method_->num_stages, method_->num_dense, y, clocks, nullptr);
}
void RowStep::state_of(int place, const double* rows, double* state) const {
    for (int c = 0; c < problem_->state_size; ++c) state[c] = rows[c * width_ + place];
}
void RowStep::dense_weights(double theta, double* weights) const {
    kernels_->dense_weights(weights, method_->dense, method_->num_dense, method_->num_powers,
                            theta);
}
void RowStep::state_within(int place, const double* y, const RowClocks& clocks, double theta,
                           double* state) const {
    double weights[MethodOnRows::most_stages];
    dense_weights(theta, weights);
    state_of(place, y, state);
    for (int i = 0; i < method_->num_dense; ++i) {
        if (weights[i] == 0) continue;
        kernels_->add_column(state, 1, clocks.rows().h[place] * weights[i], k_[i] + place, width_,
                             problem_->state_size);
    }
}
Blame RowStep::blame(int place, const double* y, const RowClocks& clocks) const {
    return detail::blame(problem_->state_size, [&](int c) {
        const std::ptrdiff_t at = std::ptrdiff_t{c} * width_ + place;
        if (!method_->estimates_error) return next_[at];
        double error = 0;
        for (int i = 0; i < method_->num_stages; ++i)
            error = mul_add(method_->b_error[i], k_[i][at], error);
        const auto scaled = scaled_error(clocks.rows().h[place] * error, y[at], next_[at],
                                         problem_->tolerances.rtol, problem_->tolerances.atol[c]);
        return (scaled.x + (next_[at] - next_[at])) / scaled.scale;
    });
}

void RowStep::pull(int count, const RowClocks& clocks, const double* kept, double* const* of_stages,
                   const double* next_cotangent, double* cotangent, double* of_p) {
    std::copy_n(next_cotangent, std::ptrdiff_t{problem_->state_size} * width_, cotangent);
    for (int i = count - 1; i >= 0; --i) {
        Sum sum;  // the newest last: the sum waits for it
        sum.add(method_->b[i], next_cotangent);
        for (int j = count - 1; j > i; --j) sum.add(method_->a_of(j, i), stage_cotangent_[j]);
        kernels_->sum_rows(k_cotangent_, nullptr, shape(), clocks.rows().h, sum);
        if (of_stages) kernels_->add_rows(k_cotangent_, of_stages[i], shape());
        const double* const state = kept + std::ptrdiff_t{i} * rows_per_stage() * width_;
        set_time(clocks, method_->c[i]);
        field_->pull(time_, state, p_, state + std::ptrdiff_t{problem_->state_size} * width_,
                     k_cotangent_, stage_cotangent_[i], of_p);
        kernels_->add_rows(cotangent, stage_cotangent_[i], shape());
    }
}

}  // namespace eddy::inline v0::detail
