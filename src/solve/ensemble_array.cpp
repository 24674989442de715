#include <eddy/solve/ask/ensemble_array.hpp>

namespace eddy::inline v0 {

template <class Real>
EnsembleArray<Real>::EnsembleArray(const EnsembleArray&) = default;
template <class Real>
EnsembleArray<Real>::EnsembleArray(EnsembleArray&&) noexcept = default;
template <class Real>
EnsembleArray<Real>& EnsembleArray<Real>::operator=(const EnsembleArray&) = default;
template <class Real>
EnsembleArray<Real>& EnsembleArray<Real>::operator=(EnsembleArray&&) noexcept = default;
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
    values_.assign(static_cast<std::size_t>(num_lanes * num_components), value);
    num_lanes_ = num_lanes;
    num_components_ = num_components;
}

template class EnsembleArray<float>;
template class EnsembleArray<double>;

}  // namespace eddy::inline v0
