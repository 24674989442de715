#pragma once
// Many sets of unknowns at once, a lane each: the sums of squares, their gradients, trajectories.

#include <Eigen/Core>
#include <eddy/eddy.hpp>
#include <vector>

#include "counts.hpp"
#include "unknowns.hpp"

namespace lynx_hare {

/// The data as they are fitted: (year, species), hares first.
[[nodiscard]] Eigen::ArrayXXd log_counts(const Counts& counts);

/// Every year of the data is a save point. Time starts at 0 in the first of them.
[[nodiscard]] eddy::SolveOptions options_at_years(const Counts& counts, double rtol);

/// One sum of squared residuals a lane; infinite where there is no trajectory.
[[nodiscard]] Eigen::ArrayXd sums_of_squares(const Counts& counts, const UnknownsArray& unknowns,
                                             double rtol);

/// Their gradients by one reverse sweep; a row of zeros where there is no trajectory.
[[nodiscard]] UnknownsArray gradients(const Counts& counts, const UnknownsArray& unknowns,
                                      double rtol);

/// Gradient and Hessian of the sum of squares of one set of unknowns.
struct Curvature {
    Eigen::VectorXd gradient;
    Eigen::MatrixXd hessian;
};

/// Forward over reverse mode, a lane for each column. NaN where there is no trajectory.
[[nodiscard]] Curvature curvature(const Counts& counts, const Eigen::VectorXd& unknowns,
                                  double rtol);

/// (lane, species) at each of `years`, which ascend from the year of the first counts.
[[nodiscard]] std::vector<Eigen::ArrayXXd> trajectories(const std::vector<double>& years,
                                                        const UnknownsArray& unknowns, double rtol);

}  // namespace lynx_hare
