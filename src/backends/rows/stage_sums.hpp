#pragma once
// The sums of stages that an explicit step is made of, each listed once: of one lane and few states a list takes as
// long as its sum.

#include <eddy/backends/rows/row_kernels.hpp>
#include <eddy/solve/lane/arena.hpp>
#include <eddy/steppers/rows/method_on_rows.hpp>

namespace eddy::inline v0::detail {

template <class Real>
class StageSums {
    using Sum = row_kernels::Sum<Real>;

  public:
    StageSums() = default;
    /// `is_large`: does a sum read more than the first-level cache holds?
    StageSums(const MethodOnRows& method, bool goes_back, bool is_large, Arena& arena);

    /// Lists those of the stages `k`, (stage); null where bytes are counted.
    void list(Real* const* k);
    /// The first and the last stage have changed places.
    void swap() { is_swapped_ = !is_swapped_; }
    /// That of stage i's state; then those of y⁺ and of both estimates of its error.
    [[nodiscard]] const Sum& of_stage(int i) const {
        return sums_[is_swapped_ ? i + num_sums() : i];
    }
    [[nodiscard]] const Sum& next() const { return of_stage(method_->num_dense); }
    [[nodiscard]] const Sum& error() const { return of_stage(method_->num_dense + 1); }
    [[nodiscard]] const Sum& coarse_error() const { return of_stage(method_->num_dense + 2); }
    /// Is the next stage's sum begun with that of this one?
    [[nodiscard]] bool begins_next(int i) const { return begins_next_[i]; }
    /// Those of the way back through the first `count` stages, whose states have these cotangents: of the cotangent of
    /// each, where that of y⁺ comes first; then, at num_dense, of the cotangents of their states. They are kept until
    /// another count is asked for.
    [[nodiscard]] Sum* back(int count, Real* const* of_states);

  private:
    void plan_pairs();
    [[nodiscard]] int num_sums() const { return method_->num_dense + 3; }

    const MethodOnRows* method_ = nullptr;
    bool goes_back_ = false;
    bool is_swapped_ = false;  // do they lie so?
    Sum* sums_ =
        nullptr;  // as stages lie, then with the first and last swapped; then those of the way back
    bool begins_next_[MethodOnRows::most_stages] = {};
};

}  // namespace eddy::inline v0::detail
