#pragma once
// Sums of stages where these lie beyond the first-level cache: what is read once serves two sums.

#include <eddy/backends/rows/row_kernels.hpp>

namespace eddy::inline v0::row_kernels {

/// Those of one level.
struct SumKernels {
    static constexpr int most = 8;  // blocks

    /// to = from + Σ_j (weight_j h) x_j, and further = from + Σ_j (further_weight_j h) x_j: of the sum after the next
    /// block, what is known already. `sum` has at most `most` blocks.
    void (*two_sums)(double* to, double* further, const double* from, Shape, const double* h,
                     const Sum& sum, const double* further_weight);
    /// The squared norms of the errors h Σ_j weight_j x_j.
    void (*norms_of_sum)(float* to, const Sum& error, const double* y, const double* next,
                         int width, const double* h, const Tolerances&);
};

/// Those with fused multiply-add, or without.
[[nodiscard]] const SumKernels& sums_of(bool fused);

}  // namespace eddy::inline v0::row_kernels
