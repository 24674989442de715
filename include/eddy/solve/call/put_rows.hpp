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
    if constexpr (is_of_host<Memory>) {
        put_rows(array, brought, from);
    } else {
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
}
/// The arrays of a gradient that have rows. Shared parameters have sums, no rows.
template <class Real, class Put>
void for_rows_of_target(bool shares_parameters, const Put& put) {
    using Target = GradientTarget<Real>;
    for (const auto array :
         {&Target::y0, &Target::y0_tangent, &Target::t0, &Target::t1, &Target::save_at,
          &Target::impulse_amounts, &Target::impulse_times, &Target::inputs})
        put(array);
    if (!shares_parameters) put(&Target::p), put(&Target::p_tangent);
}
/// Puts the rows of a gradient on the host into those of the call. Of float and double, in src/.
template <class Real>
EDDY_EXPORT void put_target(const GradientTarget<Real>& to, const BroughtRows& brought,
                            const GradientTarget<Real>& from, bool shares_parameters);
/// The same wherever they lie.
template <class Memory, class Real>
void put_target_into(const Memory& memory, const GradientTarget<Real>& to,
                     const BroughtRows& brought, const GradientTarget<Real>& from,
                     bool shares_parameters) {
    if constexpr (is_of_host<Memory>) {
        put_target(to, brought, from, shares_parameters);
    } else {
        for_rows_of_target<Real>(shares_parameters, [&](const auto array) {
            put_rows_into(memory, to.*array, brought, from.*array);
        });
    }
}

}  // namespace eddy::inline v0::detail
