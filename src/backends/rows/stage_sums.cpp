#include "stage_sums.hpp"
#include <algorithm>
#include <utility>

namespace eddy::inline v0::detail {

template <class Real>
StageSums<Real>::StageSums(const MethodOnRows& method, bool goes_back, bool is_large, Arena& arena)
    : method_(&method),
      goes_back_(goes_back),
      sums_(arena.take<Sum>(2 * num_sums() + (goes_back ? method.num_dense + 1 : 0))) {
    if (is_large) plan_pairs();
}
template <class Real>
void StageSums<Real>::list(Real* const* k) {
    if (!sums_) return;
    Real* stages[MethodOnRows::most_stages];
    std::copy_n(k, method_->num_dense, stages);
    const auto sum_of = [&](const double* weights, int count) {
        Sum sum;
        for (int j = 0; j < count; ++j) sum.add(weights[j], stages[j]);
        return sum;
    };
    for (Sum* to : {sums_, sums_ + num_sums()}) {
        for (int i = 0; i < method_->num_dense; ++i)
            *to++ = sum_of(method_->a + i * method_->num_dense, i);
        *to++ = sum_of(method_->b, method_->num_needed);
        if (method_->estimates_error) to[0] = sum_of(method_->b_error, method_->num_stages);
        if (method_->b_coarse) to[1] = sum_of(method_->b_coarse, method_->num_stages);
        std::swap(stages[0], stages[method_->num_stages - 1]);
    }
    if (goes_back_) sums_[2 * num_sums() + method_->num_dense].count = 0;  // not listed yet
}
template <class Real>
row_kernels::Sum<Real>* StageSums<Real>::back(int count, Real* const* of_states) {
    Sum* const sums = sums_ + 2 * num_sums();
    Sum& of_all = sums[method_->num_dense];
    if (of_all.count == count) return sums;
    of_all.count = 0;
    for (int i = count - 1; i >= 0; --i) {
        sums[i].count = 0;
        sums[i].add(method_->b[i], nullptr);
        // The newest last: the sum waits for it.
        for (int j = count - 1; j > i; --j) sums[i].add(method_->a_of(j, i), of_states[j]);
        of_all.add(1, of_states[i]);
    }
    return sums;
}
/// Stages lie beyond the first-level cache: what a sum reads of them serves the next one, too, where both leave out
/// the same ones.
template <class Real>
void StageSums<Real>::plan_pairs() {
    for (int i = 1; i + 1 < method_->num_dense; ++i) {
        int count = 0;
        bool are_alike = !begins_next_[i - 1];
        for (int j = 0; j < i; ++j) {
            const bool is_read = method_->a_of(i, j) != 0;
            are_alike = are_alike && is_read == (method_->a_of(i + 1, j) != 0);
            count += is_read ? 1 : 0;
        }
        begins_next_[i] = are_alike && count <= row_kernels::Kernels<Real>::most_shared;
    }
}

template class StageSums<double>;
template class StageSums<float>;

}  // namespace eddy::inline v0::detail
