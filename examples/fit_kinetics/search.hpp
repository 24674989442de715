#pragma once
// Bounded minimisation from many starts at once. All that have not ended are lanes of one ensemble:
// each has its own damping, bounds and end, and takes the steps that it would take alone. Steps are
// those of Levenberg and Marquardt, on the face of the box that the gradient leaves free, cut off at
// its sides; see Nocedal & Wright 2006, Numerical Optimization, sections 10.3 and 16.7, and Nielsen
// 1999, IMM-REP-1999-05, for the damping.

#include <vector>

#include "likelihood.hpp"

namespace kinetics {

struct Box {
    Rates low = Rates::Constant(lowest), high = Rates::Constant(highest);
};

struct Fit {
    Rates rates{};
    double value = 0;  ///< the negative log-likelihood
    bool converged = false;
    bool has_ended = true;  ///< false where the search was stopped before
};

struct SearchOptions {
    /// A fit has converged where, along each free logarithm, a decade would change the value by less.
    double least_slope = 1e-4;
    int max_iterations = 200;
    const char* title = nullptr;  ///< of a progress bar; none where there is none
};

/// One fit for each row of `starts`, within its box. Ctrl-C ends it with what there is.
[[nodiscard]] std::vector<Fit> minimise(Likelihood& likelihood, const RatesArray& starts,
                                        const std::vector<Box>& boxes,
                                        const SearchOptions& options = {});

/// The converged fit of the least value; nullptr where none converged.
[[nodiscard]] const Fit* best_of(const std::vector<Fit>& fits);

/// Points of Halton's sequence over all ten decades of every rate.
[[nodiscard]] RatesArray starting_points(int num_starts);

}  // namespace kinetics
