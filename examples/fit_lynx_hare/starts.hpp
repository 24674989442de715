#pragma once
// Where the search begins: points spread evenly over all that the data could mean, the same ones in
// every run.

#include "counts.hpp"
#include "unknowns.hpp"

namespace lynx_hare {

/// Points of Halton's sequence (Halton 1960, Numer. Math. 2, 84), laid over ranges of logarithms:
/// the period of the cycle from four gaps between the years to all their span, a/c from 1/16 to 16,
/// and the point of rest (c/d hares, a/b lynxes) and the first counts within the range of the data.
[[nodiscard]] UnknownsArray starting_points(const Counts& counts, int num_starts);

}  // namespace lynx_hare
