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

template decltype(put_rows<float>) put_rows<float>;
template decltype(put_rows<double>) put_rows<double>;

}  // namespace eddy::inline v0::detail
