#include <cmath>
#include <eddy/core/error.hpp>
#include <eddy/solve/call/collect_arrays.hpp>

namespace eddy::inline v0::detail {

template <class Real>
void require_arrays(const std::vector<EnsembleView<const Real>>& views, std::size_t num_saves,
                    std::ptrdiff_t lanes, std::ptrdiff_t columns, const char* name,
                    const char* where) {
    require_argument(views.size() >= num_saves,
                     "{}: {} for {} save points, but there are {}; give a std::vector with one "
                     "array for each",
                     where, name, views.size(), num_saves);
    require_argument(views.size() == num_saves,
                     "{}: {} for {} save points, but there are {}; give their times in save_at, "
                     "without which the end is the only one",
                     where, name, views.size(), num_saves);
    for (const auto& view : views)
        require_shape(array_shape(view), {view.num_lanes == 1 ? 1 : lanes, columns}, name, where);
}
template decltype(require_arrays<float>) require_arrays<float>;
template decltype(require_arrays<double>) require_arrays<double>;

template <class Real>
void require_finite_at_points(const EnsembleView<const Real>& array, const TimePlan& times,
                              std::size_t k, const ArrayName& name, const char* where) {
    if (!times.is_own || array.num_lanes != std::ssize(times.own))
        return require_finite(array, name, where);
    for (std::ptrdiff_t lane = 0; lane < array.num_lanes; ++lane) {
        if (!times.has_point(lane, k)) continue;
        for (std::ptrdiff_t i = 0; i < array.num_components; ++i) {
            if (!std::isfinite(array(lane, i)))
                throw_not_finite(static_cast<double>(array(lane, i)), lane, i, name, where);
        }
    }
}
template decltype(require_finite_at_points<float>) require_finite_at_points<float>;
template decltype(require_finite_at_points<double>) require_finite_at_points<double>;

}  // namespace eddy::inline v0::detail
