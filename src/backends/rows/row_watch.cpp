#include "row_watch.hpp"
#include <algorithm>
#include <array>
#include <eddy/core/math.hpp>
#include <eddy/steppers/adjoint_watch.hpp>

namespace eddy::inline v0::detail {
namespace {

/// A number of each of so many places, as the rule of a watch reads it.
template <class Real, std::size_t size>
struct Each {
    std::array<Real, size> x{};

    Each() = default;
    explicit Each(Real all) { x.fill(all); }
    template <class Use>
    static Each of(const Use& use) {
        Each made;
        for (std::size_t i = 0; i < size; ++i) made.x[i] = use(i);
        return made;
    }
    friend Each operator*(const Each& a, const Each& b) {
        return of([&](std::size_t i) { return a.x[i] * b.x[i]; });
    }
    /// 1 where it is so.
    friend Each operator>(const Each& a, const Each& b) {
        return of([&](std::size_t i) { return a.x[i] > b.x[i] ? Real(1) : Real(0); });
    }
    friend bool any(const Each& mask) {
        return std::any_of(mask.x.begin(), mask.x.end(), [](Real x) { return x != 0; });
    }
    friend Each select(const Each& mask, const Each& a, const Each& b) {
        return of([&](std::size_t i) { return mask.x[i] != 0 ? a.x[i] : b.x[i]; });
    }
    friend Each sqrt(const Each& a) {
        return of([&](std::size_t i) { return eddy::sqrt(a.x[i]); });
    }
};

/// The powers of the cotangents that wait.
template <class Real, std::size_t size>
struct WaitingPowers {
    using Scalar = Real;
    using Norms = Each<Real, size>;
    FieldOnTileOf<Real>& field;
    const Real *t, *y, *p, *h, *kept;
    Real *w, *scaled, *unwanted;

    void multiply() {
        const int width = field.width();
        for (int c = 0; c < field.num_states(); ++c)
            for (int i = 0; i < width; ++i) scaled[c * width + i] = h[i] * w[c * width + i];
        field.sum_over(nullptr, 0, 1);
        field.pull(t, y, p, kept, scaled, w, unwanted);
    }
    [[nodiscard]] Norms norm() const {
        const int width = field.width();
        Norms largest;
        for (int i = 0; i < width; ++i) {
            Real& of = largest.x[static_cast<std::size_t>(i)];
            of = eddy::abs(w[i]);
            for (int c = 1; c < field.num_states(); ++c) of = max(of, eddy::abs(w[c * width + i]));
        }
        return largest;
    }
    void divide(const Norms& norm) {
        const int width = field.width();
        for (int c = 0; c < field.num_states(); ++c)
            for (int i = 0; i < width; ++i)
                w[c * width + i] = w[c * width + i] / norm.x[static_cast<std::size_t>(i)];
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
template <std::size_t size>
void RowWatch<Real>::mark_waiting() {
    WaitingPowers<Real, size> powers{*field_, t_,         y_,      p_,       h_,
                                     kept_,   cotangent_, scaled_, unwanted_};
    const auto ratios = adjoint_ratio<Each<Real, size>>(powers, threshold_);
    for (int look = 0; look < num_waiting_; ++look) {
        const auto ratio = static_cast<float>(ratios.x[static_cast<std::size_t>(look)]);
        GradientMark& mark = marks_[lanes_[look]];
        if (!(ratio > static_cast<float>(threshold_)) || ratio <= mark.ratio) continue;
        const double t0 = problem_->times_of(run_->first() + lanes_[look]).t0;
        mark = {t0 + problem_->times.direction * elapsed_[look], ratio};
    }
}

template class RowWatch<double>;
template class RowWatch<float>;

}  // namespace eddy::inline v0::detail
