#pragma once
// The best fit, polished, with what the data say about its precision.

#include <Eigen/Core>

#include "search.hpp"

namespace kinetics {

struct Estimate {
    Eigen::VectorXd unknowns{};  ///< logarithms, all nine
    double value = 0;            ///< the negative log-likelihood
    /// A rate that the best fit has at a bound of its range; standard deviations never are.
    Eigen::Array<bool, num_unknowns, 1> is_at_bound{};
    /// Of the logarithms, to first order: from the Hessian of the unknowns that are not at a bound.
    /// Infinite for the others, and for all where the data do not determine them.
    Eigen::VectorXd standard_errors{};
    /// The largest entry of the gradient, of the unknowns that are not at a bound, by reverse mode.
    double slope = 0;

    [[nodiscard]] Rates rates() const { return unknowns.head<num_rates>(); }
};

/// From a fit that is nearly there.
[[nodiscard]] Estimate polish(const Measurements& data, const Fit& nearly);

/// The unknowns that the collection of benchmarks publishes as the best.
[[nodiscard]] Eigen::VectorXd published_unknowns();

}  // namespace kinetics
