#pragma once
// The files that are left: the curves as a CSV, a gnuplot script, and the picture that it makes.

#include "confidence.hpp"
#include "counts.hpp"
#include "estimate.hpp"
#include "fitting/output_files.hpp"

namespace lynx_hare {

/// Writes the fit and its band, a row per point of the grid, and the script, and has it drawn.
void write_files(const fitting::OutputFiles& files, const Counts& counts, const Estimate& estimate,
                 const Band& band);

}  // namespace lynx_hare
