// Which values of data are there.

#include <cmath>
#include <eddy/solve/ask/missing.hpp>
#include <eddy/solve/ask/time_plan.hpp>

namespace eddy::inline v0::detail {

template <class Real>
void count_observed(std::vector<std::int64_t>& counts,
                    const std::vector<EnsembleView<const Real>>& views, std::ptrdiff_t lanes,
                    const TimePlan& times, const char* where) {
    counts.assign(static_cast<std::size_t>(lanes), 0);
    for (std::size_t k = 0; k < views.size(); ++k) {
        const EnsembleView<const Real>& view = views[k];
        const bool is_shared = view.num_lanes == 1;
        for (std::ptrdiff_t i = 0; i < view.num_components; ++i) {
            for (std::ptrdiff_t row = 0; row < view.num_lanes; ++row) {
                if (!is_shared && !times.has_point(row, k)) continue;
                const Real value = view(row, i);
                if (std::isnan(value)) continue;
                if (!std::isfinite(value))
                    throw_not_finite(
                        static_cast<double>(value), row, i,
                        {"data", views.size() > 1 ? static_cast<std::ptrdiff_t>(k) : -1,
                         ", or NaN for a value that is missing"},
                        where);
                const std::ptrdiff_t first = is_shared ? 0 : row,
                                     last = is_shared ? lanes : row + 1;
                for (std::ptrdiff_t lane = first; lane < last; ++lane)
                    counts[static_cast<std::size_t>(lane)] += times.has_point(lane, k);
            }
        }
    }
}
template decltype(count_observed<float>) count_observed<float>;
template decltype(count_observed<double>) count_observed<double>;

template <class Real>
void count_given(std::vector<std::int64_t>& counts,
                 const std::vector<EnsembleView<const Real>>& views, std::ptrdiff_t lanes,
                 const TimePlan& times) {
    counts.assign(static_cast<std::size_t>(lanes), 0);
    for (std::size_t k = 0; k < views.size(); ++k) {
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
            if (times.has_point(lane, k))
                counts[static_cast<std::size_t>(lane)] += views[k].num_components;
        }
    }
}
template decltype(count_given<float>) count_given<float>;
template decltype(count_given<double>) count_given<double>;

}  // namespace eddy::inline v0::detail
