#pragma once
// Which other fits the data cannot tell from the best one, and the band that they fill.

#include <vector>

#include "counts.hpp"
#include "estimate.hpp"

namespace lynx_hare {

/// The value that Fisher's F with (6, degrees_of_freedom) degrees of freedom exceeds with the
/// given probability.
[[nodiscard]] double f_quantile_6(double degrees_of_freedom, double probability);

/// The sum of squares at the edge of the 95 % region of all six unknowns together:
/// S_best (1 + 6/f F(6, f; 0.05)) with f degrees of freedom. Beale 1960, J. R. Stat. Soc. B 22, 41.
[[nodiscard]] double largest_near_optimal_sum(const Estimate& estimate);

/// Counts on a fine grid of years, (year, species): of the best fit, and the least and the largest
/// of all fits found within the region.
struct Band {
    std::vector<double> year;
    Eigen::ArrayXXd best{}, low{}, high{};
    int num_fits = 0;
};

/// Draws fits around the best one, solves them as one ensemble, and keeps those in the region. Just
/// the best fit where the data do not determine it.
[[nodiscard]] Band near_optimal_band(const Counts& counts, const Estimate& estimate);

}  // namespace lynx_hare
