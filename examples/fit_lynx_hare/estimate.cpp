#include "estimate.hpp"

#include <Eigen/QR>
#include <limits>
#include <stdexcept>

#include "ensemble.hpp"
#include "log_residuals.hpp"

namespace lynx_hare {

namespace {

constexpr double estimate_rtol = 1e-12;
constexpr int most_steps = 50;

/// Sets the covariance, or says that the data do not determine it.
void set_precision(Estimate& estimate, const Eigen::MatrixXd& jacobian) {
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(jacobian);
    qr.setThreshold(1e-9);  // the entries have about 11 digits
    estimate.is_determined = qr.rank() == num_unknowns;
    estimate.covariance.setConstant(num_unknowns, num_unknowns,
                                    std::numeric_limits<double>::infinity());
    if (!estimate.is_determined) return;
    const double variance = estimate.sum_of_squares / estimate.degrees_of_freedom();
    const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(num_unknowns, num_unknowns);
    estimate.covariance = variance * (jacobian.transpose() * jacobian).ldlt().solve(identity);
}

}  // namespace

Estimate polish(const Counts& counts, const Eigen::VectorXd& nearly) {
    // Newton's steps, with the exact Hessian: they ask for the gradient alone, which still has
    // digits where the sum of squares has none left to tell one step from the next.
    Eigen::VectorXd unknowns = nearly;
    Curvature here = curvature(counts, unknowns, estimate_rtol);
    for (int step = 0; step < most_steps; ++step) {
        const Eigen::VectorXd next = unknowns - here.hessian.ldlt().solve(here.gradient);
        if (!in_range(next)) break;
        const Curvature there = curvature(counts, next, estimate_rtol);
        if (!there.hessian.allFinite() || !(there.gradient.norm() < here.gradient.norm())) break;
        unknowns = next;
        here = there;
    }

    LogResiduals function(counts, estimate_rtol);
    const Linearised linearised(function, unknowns);
    if (!linearised.jacobian.allFinite())
        throw std::runtime_error("the best fit is too stiff to be followed at rtol 1e-12");
    Estimate estimate{.unknowns = unknowns,
                      .sum_of_squares = linearised.residuals.squaredNorm(),
                      .num_residuals = static_cast<int>(linearised.residuals.size()),
                      .forward_gradient = linearised.gradient(),
                      .reverse_gradient = here.gradient};
    set_precision(estimate, linearised.jacobian);
    return estimate;
}

}  // namespace lynx_hare
