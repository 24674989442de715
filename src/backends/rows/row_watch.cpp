#include "row_watch.hpp"
#include <algorithm>
#include <eddy/core/pack_math.hpp>
#include <eddy/steppers/adjoint_watch.hpp>

namespace eddy::inline v0::detail {
namespace {

/// The powers of the cotangents that wait; their norms, of at most so many. Where a loss's tangent is pulled back, that of the
/// state's tangent is the loss's own, whose powers are those of y alone.
template <class Real, int most>
struct WaitingPowers {
    using Scalar = Real;
    using Norms = Pack<Real, most>;
    FieldOnTileOf<Real>& field;
    const Real *t, *y, *p, *h, *kept;
    Real *w, *scaled, *unwanted;

    /// The first component that counts.
    [[nodiscard]] int first() const { return field.num_states() - field.sizes().own_states(); }
    void multiply() {
        const int width = field.width();
        std::fill_n(scaled, first() * width, Real(0));
        for (int c = first(); c < field.num_states(); ++c)
            for (int i = 0; i < width; ++i) scaled[c * width + i] = h[i] * w[c * width + i];
        field.sum_over(nullptr, 0, 1);
        field.pull(t, y, p, kept, scaled, w, unwanted);
    }
    [[nodiscard]] Norms norm() const {
        const int width = field.width();
        Real largest[most] = {};
        for (int i = 0; i < width; ++i) {
            largest[i] = eddy::abs(w[first() * width + i]);
            for (int c = first() + 1; c < field.num_states(); ++c)
                largest[i] = max(largest[i], eddy::abs(w[c * width + i]));
        }
        return Norms::load(largest);
    }
    void divide(const Norms& norm) {
        const int width = field.width();
        Real by[most];
        norm.store(by);
        for (int c = first(); c < field.num_states(); ++c)
            for (int i = 0; i < width; ++i) w[c * width + i] = w[c * width + i] / by[i];
    }
};

}  // namespace

template <class Real>
RowWatch<Real>::RowWatch(const RowProblem<Real>& problem, FieldOnTileOf<Real>& field,
                         RowRun<Real>& run, RowStep<Real>& step, Arena& arena)
    : problem_(&problem), field_(&field), run_(&run), step_(&step) {
    if (!problem.is_watched) return;
    threshold_ = 0.5 * problem.method->stability_length;
    const int width = run.width();
    for (Real** rows : {&y_, &cotangent_, &scaled_})
        *rows = arena.take<Real>(std::int64_t{problem.state_size} * width);
    for (Real** row : {&t_, &h_}) *row = arena.take<Real>(width);
    for (Real** of_p : {&p_, &unwanted_}) *of_p = arena.take<Real>(problem.size_of_reads(width));
    kept_ = arena.take<Real>(std::int64_t{field.num_residuals()} * width);
    lanes_ = arena.take<std::int32_t>(width);
    elapsed_ = arena.take<double>(width);
}

template <class Real>
void RowWatch<Real>::begin(GradientMark* marks, const LaneOutcome* outcomes) {
    marks_ = problem_->is_watched ? marks : nullptr;
    outcomes_ = outcomes;
    num_waiting_ = 0;
    next_ = marks_ ? unknown : never;
}
template <class Real>
void RowWatch<Real>::look(const Real* y, const Real* cotangent, const RowClocks& clocks,
                          std::int64_t round) {
    if (!marks_ || round > next_) return;
    next_ = never;
    for (int place = 0; place < std::min(run_->count(), run_->width()); ++place) {
        if (!run_->is_alive(place)) continue;
        const std::int32_t lane = run_->back(place);
        const std::int64_t attempts = outcomes_[lane].accepted + outcomes_[lane].rejected,
                           first = run_->first_round(lane), attempt = round - first,
                           before = look_before(attempt, attempts);
        if (before >= 0) next_ = std::max(next_, first + before);
        if (run_->takes_part(place) && is_looked_at(attempt, attempts))
            wait(place, y, cotangent, clocks);
    }
}
template <class Real>
void RowWatch<Real>::wait(int place, const Real* y, const Real* cotangent,
                          const RowClocks& clocks) {
    const int width = run_->width(), look = num_waiting_++;
    for (int c = 0; c < problem_->state_size; ++c) {
        y_[c * width + look] = y[c * width + place];
        cotangent_[c * width + look] = cotangent[c * width + place];
    }
    step_->copy_reads(place, clocks, t_, p_, look);
    h_[look] = step_->sizes()[place];
    lanes_[look] = run_->back(place);
    elapsed_[look] = run_->step(place).before;
    if (num_waiting_ == width) look_at_waiting();
}
template <class Real>
void RowWatch<Real>::look_at_waiting() {
    const int width = run_->width(), of_p = problem_->sums_tile ? 0 : problem_->parameter_size;
    // In the other places: numbers that the equation can take.
    const auto fill = [&](Real* rows, int count) {
        for (int c = 0; c < count; ++c)
            std::fill(rows + c * width + num_waiting_, rows + (c + 1) * width, rows[c * width]);
    };
    for (Real* rows : {y_, cotangent_}) fill(rows, problem_->state_size);
    for (Real* row : {t_, h_}) fill(row, 1);
    fill(p_, of_p);
    fill(p_ + problem_->behind_parameters(width), problem_->input_room);
    std::fill_n(unwanted_, problem_->size_of_reads(width), Real(0));
    field_->forward(t_, y_, p_, scaled_, kept_);
    // One lane is often all there is, and its looks are many beside its steps.
    width == 1 ? mark_waiting<1>() : mark_waiting<row_kernels::widest>();
    num_waiting_ = 0;
}
template <class Real>
template <int most>
void RowWatch<Real>::mark_waiting() {
    WaitingPowers<Real, most> powers{*field_, t_,         y_,      p_,       h_,
                                     kept_,   cotangent_, scaled_, unwanted_};
    const auto ratios = adjoint_ratio<Pack<Real, most>>(powers, threshold_);
    for (int look = 0; look < num_waiting_; ++look) {
        const auto ratio = static_cast<float>(ratios[look]);
        GradientMark& mark = marks_[lanes_[look]];
        if (!(ratio > static_cast<float>(threshold_)) || ratio <= mark.ratio) continue;
        const double t0 = problem_->times_of(run_->first() + lanes_[look]).t0;
        mark = {t0 + problem_->times.direction * elapsed_[look], ratio};
    }
}

template class RowWatch<double>;
template class RowWatch<float>;

}  // namespace eddy::inline v0::detail
