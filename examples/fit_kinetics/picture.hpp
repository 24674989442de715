#pragma once
// The files that are left: the fitted curves as a CSV, a gnuplot script with everything else, and the
// picture that it makes.

#include <vector>

#include "estimate.hpp"
#include "fitting/output_files.hpp"
#include "profiles.hpp"

namespace kinetics {

void write_files(const fitting::OutputFiles& files, const Measurements& data,
                 const std::vector<Fit>& fits, const Estimate& estimate,
                 const std::vector<Profile>& profiles);

}  // namespace kinetics
