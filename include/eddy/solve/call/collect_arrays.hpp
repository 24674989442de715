#pragma once
// What a call reads at save points, data or cotangents: one array for each.
// Test: tests/solve/validation.cpp, tests/solve/sensitivities.cpp

#include <eddy/core/export.hpp>
#include <eddy/solve/ask/check_call.hpp>
#include <eddy/solve/ask/memory.hpp>
#include <eddy/solve/ask/time_plan.hpp>
#include <eddy/solve/ask/validate.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// One view for each save point, of `columns`, with a row per lane or one for all. Of float and double, in src/.
template <class Real>
EDDY_EXPORT void require_arrays(const std::vector<EnsembleView<const Real>>& views,
                                std::size_t num_saves, std::ptrdiff_t lanes, std::ptrdiff_t columns,
                                const char* name, const char* where);
/// Checks that numbers at save point k are finite; of lanes that have none there, as times of their own say, no row is read.
template <class Real>
EDDY_EXPORT void require_finite_at_points(const EnsembleView<const Real>& array,
                                          const TimePlan& times, std::size_t k,
                                          const ArrayName& name, const char* where);

/// What is said besides of data that are not finite.
inline constexpr const char* for_missing_data =
    ", or eddy::missing_as_nan(data) where NaN stands for a value that is missing";

/// Views of the data at each save point, checked: `columns` wide, a row per lane or one for all.
template <class Real, class Data, class Memory = HostMemory>
void collect_arrays(std::vector<EnsembleView<const Real>>& views, const Data& data,
                    std::size_t num_saves, std::ptrdiff_t lanes, std::ptrdiff_t columns,
                    const char* name, const char* where, const Memory& memory = {},
                    const char* remedy = "", const TimePlan* times = nullptr) {
    using Arrays = typename GivenArrays<Data>::type;
    const Arrays& arrays = given_arrays(data);
    views.clear();
    if constexpr (is_list_of_arrays<Arrays>) {
        for (const auto& array : arrays) views.push_back(ensemble_view(array));
    } else {
        views.push_back(ensemble_view(arrays));
    }
    require_arrays(views, num_saves, lanes, columns, name, where);
    if (may_miss_values<Data>) return;  // whoever counts them looks at each
    for (std::size_t k = 0; k < views.size(); ++k) {
        const std::ptrdiff_t save_point =
            is_list_of_arrays<Arrays> ? static_cast<std::ptrdiff_t>(k) : -1;
        const ArrayName of_point{name, save_point, remedy};
        if (is_of_host<Memory> && times)
            require_finite_at_points(views[k], *times, k, of_point, where);
        else
            require_finite_in<typename EachArray<Arrays>::type>(memory, views[k], of_point, where);
    }
}

}  // namespace eddy::inline v0::detail
