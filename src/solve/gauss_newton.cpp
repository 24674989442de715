// Residuals, and their derivatives multiplied.

#include <cmath>
#include <eddy/core/error.hpp>
#include <eddy/solve/ask/validate.hpp>
#include <eddy/solve/call/gauss_newton.hpp>
#include <eddy/solve/lane/lane_sums.hpp>

namespace eddy::inline v0 {
namespace detail {

LeastSquares no_squares(std::ptrdiff_t num_lanes, std::ptrdiff_t num_directions) {
    return {EnsembleArray<double>(num_lanes, 1), EnsembleArray<double>(num_lanes, num_directions),
            EnsembleArray<double>(num_lanes, num_directions * num_directions),
            std::vector<std::int64_t>(static_cast<std::size_t>(num_lanes), 0)};
}

template <class Real>
void add_squares(LeastSquares& squares, const ObservedPoint<Real>& point) {
    const std::ptrdiff_t num_directions = point.sensitivity.num_directions;
    for (std::ptrdiff_t lane = 0; lane < point.y.num_lanes; ++lane) {
        if (!point.is_seen[static_cast<std::size_t>(lane)]) continue;
        for (std::ptrdiff_t i = 0; i < point.y.num_components; ++i) {
            const std::ptrdiff_t row = point.data.num_lanes == 1 ? 0 : lane;
            const auto datum = static_cast<double>(point.data(row, i));
            if (point.may_miss_values && std::isnan(datum)) continue;
            if (!std::isfinite(datum))
                throw_not_finite(datum, row, i, point.data_name, "gauss_newton");
            ++squares.num_observed[static_cast<std::size_t>(lane)];
            const double residual = static_cast<double>(point.y(lane, i)) - datum;
            squares.loss(lane, 0) += residual * residual / 2;
            for (std::ptrdiff_t d = 0; d < num_directions; ++d) {
                const auto along = static_cast<double>(point.sensitivity(lane, i, d));
                squares.gradient(lane, d) += along * residual;
                for (std::ptrdiff_t other = 0; other < num_directions; ++other)
                    squares.matrices(lane, d * num_directions + other) +=
                        along * static_cast<double>(point.sensitivity(lane, i, other));
            }
        }
    }
}
template void add_squares(LeastSquares&, const ObservedPoint<float>&);
template void add_squares(LeastSquares&, const ObservedPoint<double>&);

}  // namespace detail

LeastSquares LeastSquares::sum() const {
    LeastSquares sum = detail::no_squares(1, gradient.cols());
    const auto add_up = [&](const EnsembleArray<double>& rows, EnsembleArray<double>& row) {
        for (std::ptrdiff_t i = 0; i < rows.cols(); ++i)
            row(0, i) = detail::sum_over_lanes<double>(
                rows.rows(), [&](std::ptrdiff_t lane) { return rows(lane, i); });
    };
    add_up(loss, sum.loss);
    add_up(gradient, sum.gradient);
    add_up(matrices, sum.matrices);
    for (const std::int64_t count : num_observed) sum.num_observed[0] += count;
    return sum;
}

}  // namespace eddy::inline v0
