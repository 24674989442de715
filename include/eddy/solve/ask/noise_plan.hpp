#pragma once
// The noise of a call, checked: which cells lie between which tstops.

#include <cstddef>
#include <eddy/core/export.hpp>
#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/ask/time_plan.hpp>
#include <eddy/steppers/brownian/brownian_path.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// The plan refers to `first_cells`, one for each tstop. InvalidArgument, beginning with `where`,
/// says what to change.
[[nodiscard]] EDDY_EXPORT NoisePlan plan_noise(const SolveOptions& options, const TimePlan& times,
                                               std::vector<double>& first_cells, const char* where);

EDDY_EXPORT void require_path_numbers(const NoisePlan& plan, std::ptrdiff_t num_lanes,
                                      const char* where);

}  // namespace eddy::inline v0::detail
