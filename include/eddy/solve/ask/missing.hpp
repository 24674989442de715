#pragma once
// Data of which values may be missing, or all: types of their own, so that the others pay nothing for it.
// Test: tests/solve/missing_data.cpp

#include <cstdint>
#include <eddy/core/export.hpp>
#include <eddy/core/host_device.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/ask/memory.hpp>
#include <eddy/solve/ask/validate.hpp>
#include <vector>

namespace eddy::inline v0 {

struct TimePlan;  // time_plan.hpp

/// Data in which NaN stands for what was not observed. Refers to `arrays`, which must live until the call returns.
template <class Arrays>
struct MissingAsNan {
    const Arrays& arrays;
};

/// Takes NaN in the data of a loss for a value that is missing: what the loss adds for it counts neither in the loss
/// nor in any derivative. Stands where data stand: `value_and_gradient(field, method, loss,
/// eddy::missing_as_nan(data), y0, p, options)`.
template <class Arrays>
[[nodiscard]] MissingAsNan<Arrays> missing_as_nan(const Arrays& data) {
    return {data};
}

namespace detail {

/// In the place of the data of a loss that takes none.
struct NoData {
    [[nodiscard]] EDDY_HD double operator[](int) const { return 0; }
};

template <class Data>
inline constexpr bool may_miss_values = false;
template <class Arrays>
inline constexpr bool may_miss_values<MissingAsNan<Arrays>> = true;

/// The arrays that are given for data.
template <class Data>
struct GivenArrays {
    using type = Data;
};
template <class Arrays>
struct GivenArrays<MissingAsNan<Arrays>> {
    using type = Arrays;
};
template <class Data>
[[nodiscard]] const Data& given_arrays(const Data& data) {
    return data;
}
template <class Arrays>
[[nodiscard]] const Arrays& given_arrays(const MissingAsNan<Arrays>& data) {
    return data.arrays;
}

/// Counts the values of data that are given to each lane at its save points, where none may be missing.
template <class Real>
EDDY_EXPORT void count_given(std::vector<std::int64_t>& counts,
                             const std::vector<EnsembleView<const Real>>& views,
                             std::ptrdiff_t lanes, const TimePlan& times);
/// Counts the values of data that are numbers, for each lane at its save points; each must be finite or NaN.
template <class Real>
EDDY_EXPORT void count_observed(std::vector<std::int64_t>& counts,
                                const std::vector<EnsembleView<const Real>>& views,
                                std::ptrdiff_t lanes, const TimePlan& times, const char* where);
/// The same wherever the data lie.
template <class Memory, class Real>
void count_observed_in(const Memory& memory, std::vector<std::int64_t>& counts,
                       const std::vector<EnsembleView<const Real>>& views, std::ptrdiff_t lanes,
                       const TimePlan& times, const char* where) {
    if constexpr (is_of_host<Memory>) {
        count_observed(counts, views, lanes, times, where);
    } else {
        std::vector<EnsembleArray<Real>> copies;
        std::vector<EnsembleView<const Real>> here;
        for (const auto& view : views) copies.push_back(host_copy(memory, view));
        for (const auto& copy : copies) here.push_back(copy.view());
        count_observed(counts, here, lanes, times, where);
    }
}

}  // namespace detail
}  // namespace eddy::inline v0
