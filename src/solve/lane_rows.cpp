#include <eddy/solve/call/gradient_rows.hpp>

namespace eddy::inline v0::detail {

template <class Real>
void gather_rows(const EnsembleView<const Real>& array, std::span<const std::ptrdiff_t> lanes,
                 EnsembleArray<Real>& rows) {
    rows.assign(static_cast<std::ptrdiff_t>(lanes.size()), array.num_components, Real(0));
    for (std::ptrdiff_t i = 0; i < array.num_components; ++i) {
        for (std::size_t k = 0; k < lanes.size(); ++k)
            rows(static_cast<std::ptrdiff_t>(k), i) = array(lanes[k], i);
    }
}

template <class Real>
void put_rows(const EnsembleView<Real>& array, const LaneList& lanes,
              const EnsembleView<Real>& from, const LaneList& rows) {
    for (std::ptrdiff_t i = 0; array.first && i < array.num_components; ++i) {
        for (std::size_t k = 0; k < lanes.size(); ++k) array(lanes[k], i) = from(rows[k], i);
    }
}

template <class Real>
void put_target(const GradientTarget<Real>& to, const LaneList& lanes,
                const GradientTarget<Real>& from, const LaneList& rows, bool shares_parameters) {
    put_rows(to.y0, lanes, from.y0, rows);
    put_rows(to.y0_tangent, lanes, from.y0_tangent, rows);
    put_rows(to.t0, lanes, from.t0, rows);
    put_rows(to.t1, lanes, from.t1, rows);
    put_rows(to.save_at, lanes, from.save_at, rows);
    if (shares_parameters) return;
    put_rows(to.p, lanes, from.p, rows);
    put_rows(to.p_tangent, lanes, from.p_tangent, rows);
}

template void gather_rows(const EnsembleView<const float>&, std::span<const std::ptrdiff_t>,
                          EnsembleArray<float>&);
template void put_rows(const EnsembleView<float>&, const LaneList&, const EnsembleView<float>&,
                       const LaneList&);
template void put_target(const GradientTarget<float>&, const LaneList&,
                         const GradientTarget<float>&, const LaneList&, bool);
template void gather_rows(const EnsembleView<const double>&, std::span<const std::ptrdiff_t>,
                          EnsembleArray<double>&);
template void put_rows(const EnsembleView<double>&, const LaneList&, const EnsembleView<double>&,
                       const LaneList&);
template void put_target(const GradientTarget<double>&, const LaneList&,
                         const GradientTarget<double>&, const LaneList&, bool);

}  // namespace eddy::inline v0::detail
