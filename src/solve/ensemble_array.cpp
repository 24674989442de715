#include <eddy/core/error.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <limits>
#include <utility>

namespace eddy::inline v0 {

template <class Real>
EnsembleArray<Real>::EnsembleArray(const EnsembleArray&) = default;
template <class Real>
EnsembleArray<Real>::EnsembleArray(EnsembleArray&& other) noexcept
    : values_(std::move(other.values_)),
      num_lanes_(std::exchange(other.num_lanes_, 0)),
      num_components_(std::exchange(other.num_components_, 0)) {}
template <class Real>
EnsembleArray<Real>& EnsembleArray<Real>::operator=(const EnsembleArray&) = default;
template <class Real>
EnsembleArray<Real>& EnsembleArray<Real>::operator=(EnsembleArray&& other) noexcept {
    if (this == &other) return *this;
    values_ = std::move(other.values_);
    num_lanes_ = std::exchange(other.num_lanes_, 0);
    num_components_ = std::exchange(other.num_components_, 0);
    return *this;
}
template <class Real>
EnsembleArray<Real>::~EnsembleArray() = default;

template <class Real>
EnsembleArray<Real>::EnsembleArray(const EnsembleView<const Real>& view)
    : EnsembleArray(view.num_lanes, view.num_components) {
    for (std::ptrdiff_t i = 0; i < num_components_; ++i) {
        for (std::ptrdiff_t lane = 0; lane < num_lanes_; ++lane) (*this)(lane, i) = view(lane, i);
    }
}

template <class Real>
void EnsembleArray<Real>::assign(std::ptrdiff_t num_lanes, std::ptrdiff_t num_components,
                                 Real value) {
    constexpr auto most = std::numeric_limits<std::ptrdiff_t>::max() / std::ptrdiff_t{sizeof(Real)};
    require_argument(
        num_lanes >= 0 && num_components >= 0 &&
            (num_components == 0 || num_lanes <= most / num_components),
        "EnsembleArray: {} x {} (trajectory, component); give sizes of at least 0 that memory "
        "can hold",
        num_lanes, num_components);
    values_.assign(static_cast<std::size_t>(num_lanes * num_components), value);
    num_lanes_ = num_lanes;
    num_components_ = num_components;
}

void detail::require_size(std::size_t size, std::ptrdiff_t num_lanes, std::ptrdiff_t num_components,
                          const char* where) {
    require_argument(num_lanes >= 0 && num_components >= 0 &&
                         size == static_cast<std::size_t>(num_lanes * num_components),
                     "{}: {} numbers for {} x {} (trajectory, component); give as many as that has",
                     where, size, num_lanes, num_components);
}

template class EnsembleArray<float>;
template class EnsembleArray<double>;

}  // namespace eddy::inline v0
