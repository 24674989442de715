#pragma once
// What some lanes of a call have left, solved in a launch of their own, into the rows of the call that they belong to.
// Sums over lanes are the caller's business.
// Test: tests/solve/stable_gradients.cpp, tests/solve/auto_switch_calls.cpp

#include <eddy/core/export.hpp>
#include <eddy/solve/ask/memory.hpp>
#include <eddy/solve/lane/gradient_recorder.hpp>
#include <eddy/solve/lane/rows.hpp>

namespace eddy::inline v0::detail {

/// Lanes of a launch, and the rows of the call that they are.
struct BroughtRows {
    RowList lanes, rows;
};

/// Row lanes[k] of `from` into row rows[k] of `array`; nothing where the array is empty. Of float and double, in src/.
template <class Real>
EDDY_EXPORT void put_rows(const EnsembleView<Real>& array, const BroughtRows& brought,
                          const EnsembleView<Real>& from);
/// Puts rows into an array wherever it lies.
template <class Memory, class Real>
void put_rows_into(const Memory& memory, const EnsembleView<Real>& array,
                   const BroughtRows& brought, const EnsembleView<Real>& from) {
    if (array.first == nullptr || !lies_in(memory, array.first))
        return put_rows(array, brought, from);
    const auto count = static_cast<std::ptrdiff_t>(brought.lanes.size());
    EnsembleArray<Real> dense(count, array.num_components);
    for (std::ptrdiff_t i = 0; i < array.num_components; ++i) {
        for (std::ptrdiff_t k = 0; k < count; ++k)
            dense(k, i) = from(brought.lanes[static_cast<std::size_t>(k)], i);
    }
    memory.put_rows(array, brought.rows, dense.data());
}
/// Puts the rows of a gradient into those of the call. Shared parameters have sums, no rows.
template <class Memory, class Real>
void put_target_into(const Memory& memory, const GradientTarget<Real>& to,
                     const BroughtRows& brought, const GradientTarget<Real>& from,
                     bool shares_parameters) {
    using Target = GradientTarget<Real>;
    const auto put = [&](const auto... arrays) {
        (put_rows_into(memory, to.*arrays, brought, from.*arrays), ...);
    };
    put(&Target::y0, &Target::y0_tangent, &Target::t0, &Target::t1, &Target::save_at,
        &Target::impulse_amounts, &Target::impulse_times, &Target::inputs);
    if (!shares_parameters) put(&Target::p, &Target::p_tangent);
}

}  // namespace eddy::inline v0::detail
