#include "solved_step.hpp"
#include <algorithm>

namespace eddy::inline v0::detail {

template <class Real>
SolvedStep<Real>::SolvedStep(const RowProblem<Real>& problem, int width, bool goes_back,
                             Arena& arena)
    : problem_(&problem),
      method_(problem.method),
      kernels_(&row_kernels::of<Real>(problem.is_fused, width)),
      width_(width) {
    const int size = problem.state_size;
    const int before_health = size + (method_->estimates_error ? size : 0);
    before_stages_ = before_health + (method_->esdirk ? 2 : 1);
    num_rows_ = before_stages_ + size * method_->num_dense;
    const auto take = [&](std::ptrdiff_t count) { return arena.take<Real>(rows(count)); };
    const int num_times = method_->num_times + (method_->esdirk ? 2 : 1);
    times_ = take(num_times);
    if (problem.differentiates_times) of_times_ = take(num_times);
    ones_ = take(1);
    solved_ = take(num_rows_);
    if (goes_back) cotangent_ = take(num_rows_);
    for (Real** column : {&bend_, &sum_}) *column = arena.take<Real>(size);
    health_ = solved_ ? solved_ + rows(before_health) : nullptr;  // null: bytes are counted
}

template <class Real>
void SolvedStep<Real>::step(FieldOnTileOf<Real>& steps, const Real* y, const Real* p, Real* kept) {
    before_ = y;
    if (!kept) return steps.f(times_, y, p, solved_);
    const std::ptrdiff_t size = rows(problem_->state_size);
    std::copy_n(y, size, kept);
    steps.forward(times_, y, p, solved_, kept + size);
}
template <class Real>
void SolvedStep<Real>::dense_weights(Real theta, Real* weights) const {
    const RosenbrockOnRows& of = *method_->rosenbrock;
    std::fill_n(weights, of.num_needed, Real(0));
    Real power = theta * (1 - theta);
    for (int r = 0; r < of.num_powers; ++r, power *= theta)
        for (int i = 0; i < of.num_needed; ++i)
            weights[i] += static_cast<Real>(of.h_of(r, i)) * power;
}
/// (1 − θ) y + θ y⁺ + θ (1 − θ) Σ_r θ^r Σ_i h_ri U_i, by Horner's rule.
template <class Real>
void SolvedStep<Real>::state_within(int place, const Real* y, const Real* next, Real theta,
                                    Real* state) const {
    const RosenbrockOnRows& of = *method_->rosenbrock;
    const int size = problem_->state_size;
    const auto add = [&](Real* to, Real weight, const Real* x, std::ptrdiff_t stride) {
        kernels_->add_column(to, 1, weight, x, stride, size);
    };
    for (int r = of.num_powers; r-- > 0;) {
        std::fill_n(sum_, size, Real(0));
        for (int i = 0; i < of.num_needed; ++i)
            if (of.h_of(r, i) != 0)
                add(sum_, static_cast<Real>(of.h_of(r, i)), stage(i) + place, width_);
        if (r + 1 < of.num_powers) add(sum_, theta, bend_, 1);
        std::copy_n(sum_, size, bend_);
    }
    const Real left = 1 - theta;
    for (int c = 0; c < size; ++c) state[c] = left * y[c * width_ + place];
    add(state, theta, next + place, width_);
    add(state, theta * left, bend_, 1);
}
template <class Real>
Real SolvedStep<Real>::slope_within(int place, double theta, const Real* seed) const {
    const RosenbrockOnRows& of = *method_->rosenbrock;
    const auto along = [&](const Real* x) {
        Real sum = 0;
        for (int c = 0; c < problem_->state_size; ++c) sum += seed[c] * x[rows(c) + place];
        return sum;
    };
    Real by_theta = along(solved_) - along(before_);
    for (int i = 0; i < of.num_needed; ++i) {
        double slope = 0, power = 1;  // of θ^(r+1) (1 − θ); θ^r
        for (int r = 0; r < of.num_powers; ++r, power *= theta)
            slope += of.h_of(r, i) * power * (r + 1 - (r + 2) * theta);
        by_theta += static_cast<Real>(slope) * along(stage(i));
    }
    return by_theta;
}

template <class Real>
void SolvedStep<Real>::pull(FieldOnTileOf<Real>& steps, const Real* p, const Real* kept,
                            Real* const* of_stages, const Real* next_cotangent, Real* cotangent,
                            Real* of_p) {
    const std::ptrdiff_t size = rows(problem_->state_size);
    std::copy_n(next_cotangent, size, cotangent_);
    std::fill_n(cotangent_ + size, rows(num_rows_) - size, Real(0));
    for (int i = 0; of_stages && i < method_->num_dense; ++i)
        std::copy_n(of_stages[i], size, cotangent_ + (stage(i) - solved_));
    steps.pull(times_, kept, p, kept + size, cotangent_, cotangent, of_p);
}
template <class Real>
void SolvedStep<Real>::add_times(FieldOnTileOf<Real>& steps, const Real* y, const Real* p,
                                 const RowTimeCotangents<Real>& of_times) {
    steps.pull_time(times_, y, p, cotangent_, of_times_);
    for (int i = 0; i <= method_->num_times; ++i) {
        const bool is_size = i == method_->num_times;
        const auto of_t = static_cast<Real>(is_size ? 0 : 1);
        const auto of_dt = static_cast<Real>(is_size ? 1 : method_->c[i]);
        for (int place = 0; place < width_; ++place) {
            const Real got = of_times_[rows(i) + place];
            of_times.t[place] += of_t * got;
            if (of_times.dt) of_times.dt[place] += of_dt * got;
        }
    }
}

template class SolvedStep<double>;
template class SolvedStep<float>;

}  // namespace eddy::inline v0::detail
