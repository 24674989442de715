#pragma once
// Multi-start: every starting point goes downhill on its own, by Levenberg and Marquardt's method.

#include <cstdint>
#include <vector>

#include "counts.hpp"
#include "unknowns.hpp"

namespace lynx_hare {

struct Fit {
    Eigen::VectorXd unknowns;
    double sum_of_squares = 0;
    bool converged = false;
};

/// The fits in the order of the starting points, and what they took.
struct Refinement {
    std::vector<Fit> fits;
    int num_threads = 0;
    int num_done = 0;  ///< fewer than all after Ctrl-C
    std::int64_t num_solves = 0, num_jacobians = 0;
    double seconds = 0;
};

/// Refines each row of `starts` on `num_threads` threads (0: one per core). On a terminal it shows
/// its progress, and Ctrl-C ends it with what is done.
[[nodiscard]] Refinement refine_all(const Counts& counts, const UnknownsArray& starts,
                                    int num_threads);

/// The converged fit of the least sum of squares; nullptr where none converged.
[[nodiscard]] const Fit* best_of(const std::vector<Fit>& fits);

/// Fits that ended at the same place, as far as their sums of squares tell.
struct Optimum {
    Fit fit;  ///< the best of them
    int num_starts = 0;
};

/// The distinct optima that the converged fits found, best first: sums of squares within `relative`
/// of the best of a group belong to it.
[[nodiscard]] std::vector<Optimum> distinct_optima(const std::vector<Fit>& fits, double relative);

}  // namespace lynx_hare
