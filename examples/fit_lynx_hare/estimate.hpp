#pragma once
// The best fit, polished, with what the data say about its precision.

#include "counts.hpp"
#include "unknowns.hpp"

namespace lynx_hare {

struct Estimate {
    Eigen::VectorXd unknowns{};
    double sum_of_squares = 0;
    int num_residuals = 0;
    /// Of the unknowns, s² (JᵀJ)⁻¹ with s² the sum of squares per degree of freedom; infinite where
    /// the data do not determine them.
    Eigen::MatrixXd covariance{};
    bool is_determined = false;
    /// The gradient of the sum of squares here, which is zero at an optimum: 2 Jᵀr by forward mode,
    /// and by reverse mode.
    Eigen::VectorXd forward_gradient{}, reverse_gradient{};

    /// Unknowns that change by a part in e change the sum of squares by nothing that shows. False
    /// on a slope so faint that the search ended on it.
    [[nodiscard]] bool is_optimum() const {
        return forward_gradient.norm() <= 1e-8 * (1 + sum_of_squares);
    }
    [[nodiscard]] int degrees_of_freedom() const { return num_residuals - num_unknowns; }
    /// exp() of the unknowns, and their standard errors to first order.
    [[nodiscard]] Eigen::ArrayXd values() const { return unknowns.array().exp(); }
    [[nodiscard]] Eigen::ArrayXd standard_errors() const {
        return values() * covariance.diagonal().array().sqrt();
    }
};

/// From a fit that is nearly there, until the gradient falls no further.
[[nodiscard]] Estimate polish(const Counts& counts, const Eigen::VectorXd& nearly);

}  // namespace lynx_hare
