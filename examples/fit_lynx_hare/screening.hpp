#pragma once
// A first look at all starting points: each is a lane of one ensemble.

#include "counts.hpp"
#include "unknowns.hpp"

namespace lynx_hare {

struct Screening {
    Eigen::ArrayXd sums_of_squares;  ///< infinite where there is no trajectory
    double solve_seconds = 0, gradient_seconds = 0;
    /// Gradients by reverse mode against those by forward mode, at some of the points: the largest
    /// difference relative to 1 + the norm.
    double largest_disagreement = 0;
    int num_compared = 0;
};

/// Solves all points, computes all gradients in reverse mode, and compares some with forward mode.
[[nodiscard]] Screening screen(const Counts& counts, const UnknownsArray& starts);

}  // namespace lynx_hare
