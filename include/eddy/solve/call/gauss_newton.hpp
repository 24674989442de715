#pragma once
// Least squares from sensitivities: the loss, its gradient and the Gauss–Newton matrix of each trajectory.
// Test: tests/solve/all_sensitivities.cpp

#include <cstdint>
#include <eddy/solve/ask/missing.hpp>
#include <eddy/solve/call/collect_arrays.hpp>
#include <eddy/solve/call/sensitivities.hpp>
#include <vector>

namespace eddy::inline v0 {

/// What `gauss_newton` returns. With r = y − data at all save points, and J the derivatives of y in all
/// directions, the loss is r·r / 2, its gradient Jᵀr, and the matrix JᵀJ (Nocedal and Wright, Numerical
/// Optimization, 2006, section 10.3).
struct LeastSquares {
    EnsembleArray<double> loss;      ///< (trajectory, 1)
    EnsembleArray<double> gradient;  ///< (trajectory, direction)
    EnsembleArray<double> matrices;  ///< (trajectory, direction · number of directions + direction)
    std::vector<std::int64_t> num_observed;  ///< (trajectory) how many values of data count

    /// The matrix of one trajectory, as (direction, direction).
    [[nodiscard]] EnsembleView<const double> matrix(std::ptrdiff_t lane = 0) const& {
        detail::require_index(lane, loss.rows(), "gauss_newton: trajectory");
        const std::ptrdiff_t size = gradient.cols(), lanes = loss.rows();
        return {matrices.data() + lane, size, size, size * lanes, lanes};
    }
    EnsembleView<const double> matrix(std::ptrdiff_t lane = 0) const&& = delete;
    /// The sums over all trajectories, in one row, for parameters that all share. NaN if one has failed.
    [[nodiscard]] EDDY_EXPORT LeastSquares sum() const;
};

namespace detail {

/// One save point of all trajectories.
template <class Real>
struct ObservedPoint {
    EnsembleView<const Real> y, data;  // data: one row where all trajectories have the same
    SensitivityView<Real> sensitivity;
    std::vector<char> is_seen;  // (trajectory) has it the point?
    bool may_miss_values;
    ArrayName data_name;
};
[[nodiscard]] EDDY_EXPORT LeastSquares no_squares(std::ptrdiff_t num_lanes,
                                                  std::ptrdiff_t num_directions);
template <class Real>
EDDY_EXPORT void add_squares(LeastSquares& squares, const ObservedPoint<Real>& point);

}  // namespace detail

/// Least squares of what `sensitivities` returned. `data` is as for `value_and_gradient`: one (trajectory, component)
/// array for each save point, a row for each trajectory or one for all, or `missing_as_nan(data)`. With
/// `observe(function)` y is what the function makes of the state: divide it and the data by standard deviations for
/// weights.
template <class Real, class Data>
[[nodiscard]] LeastSquares gauss_newton(const Sensitivities<Real>& of, const Data& data) {
    using Arrays = typename detail::GivenArrays<Data>::type;
    static_assert(detail::check_data<Arrays, Real>());
    constexpr bool may_miss = detail::may_miss_values<Data>;
    const auto saves = static_cast<std::size_t>(of.num_saves());
    std::vector<EnsembleView<const Real>> views;
    detail::collect_arrays(views, missing_as_nan(detail::given_arrays(data)), saves, of.num_lanes(),
                           of.y(0).num_components, "data", "gauss_newton");
    LeastSquares squares = detail::no_squares(of.num_lanes(), of.num_directions());
    for (std::ptrdiff_t k = 0; k < of.num_saves(); ++k) {
        detail::ObservedPoint<Real> point{
            of.y(k),           views[static_cast<std::size_t>(k)],
            of.sensitivity(k), {},
            may_miss,          {"data", saves > 1 ? k : -1, detail::for_missing_data}};
        for (std::ptrdiff_t lane = 0; lane < of.num_lanes(); ++lane)
            point.is_seen.push_back(of.t(k, lane) == of.t(k, lane));
        detail::add_squares(squares, point);
    }
    return squares;
}

}  // namespace eddy::inline v0
