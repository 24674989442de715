#include <eddy/solve/call/put_rows.hpp>

namespace eddy::inline v0::detail {

template <class Real>
void put_rows(const EnsembleView<Real>& array, const BroughtRows& brought,
              const EnsembleView<Real>& from) {
    const auto& [lanes, rows] = brought;
    for (std::ptrdiff_t i = 0; array.first && i < array.num_components; ++i) {
        for (std::size_t k = 0; k < lanes.size(); ++k) array(rows[k], i) = from(lanes[k], i);
    }
}

template <class Real>
void put_target(const GradientTarget<Real>& to, const BroughtRows& brought,
                const GradientTarget<Real>& from, bool shares_parameters) {
    for_rows_of_target<Real>(shares_parameters,
                             [&](const auto array) { put_rows(to.*array, brought, from.*array); });
}

template decltype(put_rows<float>) put_rows<float>;
template decltype(put_rows<double>) put_rows<double>;
template decltype(put_target<float>) put_target<float>;
template decltype(put_target<double>) put_target<double>;

}  // namespace eddy::inline v0::detail
