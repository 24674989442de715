#pragma once
// The negative log-likelihood of all nine unknowns, with its derivatives.

#include <Eigen/Core>

#include "measurements.hpp"

namespace kinetics {

struct Curvature {
    double value = 0;
    Eigen::VectorXd gradient{};
    Eigen::MatrixXd hessian{};
};

/// At nine logarithms: the gradient by reverse mode, the Hessian by forward over reverse, a lane for
/// each of its columns; NaN where there is no trajectory.
[[nodiscard]] Curvature curvature(const Measurements& measured, const Eigen::VectorXd& unknowns,
                                  double rtol);

}  // namespace kinetics
