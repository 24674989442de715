#pragma once
// From thousands of starting points to the best fit: a look at all of them, then uphill from the best,
// then once more with many paths.

#include <vector>

#include "likelihood.hpp"

namespace short_rate {

struct Search {
    int num_starts = 0, num_possible = 0;  ///< of finite likelihood
    int num_left = 0;                      ///< starts and climbs that a Ctrl-C came before
    std::vector<Summit> summits;           ///< the best first
    double screening_seconds = 0, climbing_seconds = 0;

    /// Those that end within `distance` of the best likelihood.
    [[nodiscard]] int num_within(double distance) const;
};

/// The same starting points in every run: Halton's sequence over all that rates do.
[[nodiscard]] Unknowns starting_point(int index);

[[nodiscard]] Search search(const Rates& rates, int num_starts, const Simulation& simulation);

}  // namespace short_rate
