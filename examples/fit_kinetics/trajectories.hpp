#pragma once
// How every trajectory is computed.

#include <Eigen/Core>
#include <eddy/eddy.hpp>
#include <vector>

#include "model.hpp"

namespace kinetics {

[[nodiscard]] inline eddy::SolveOptions options_at(const std::vector<double>& minutes,
                                                   double rtol) {
    // Ratios of concentrations are observed, and some rates leave little of what they divide by.
    return {.t0 = 0,
            .t1 = minutes.back(),
            .rtol = rtol,
            .atol = rtol * 1e-3,
            .save_at = minutes,
            .max_steps = 5'000};
}

/// All of it unphosphorylated, outside the nucleus.
[[nodiscard]] inline Eigen::ArrayXXd first_state(Eigen::Index num_lanes) {
    Eigen::ArrayXXd y0 = Eigen::ArrayXXd::Zero(num_lanes, Stat5Dimerization::state_size);
    y0.col(0) = stat5 * share_of_a;
    y0.col(1) = stat5 * (1 - share_of_a);
    return y0;
}

}  // namespace kinetics
