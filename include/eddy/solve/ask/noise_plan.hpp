#pragma once
// The noise of a call, checked: which cells lie between which tstops.
// Test: tests/solve/stochastic_path.cpp, tests/solve/validation.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/core/export.hpp>
#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/ask/time_plan.hpp>
#include <eddy/steppers/brownian/brownian_path.hpp>
#include <vector>

namespace eddy::inline v0::detail {

/// Checks, before times are planned, that a call with noise goes forward and by steps of a given
/// size.
EDDY_EXPORT void require_noisy_steps(const SolveOptions& options, const char* where);

/// The plan refers to `rows`, one for each tstop. `times` get bounds for the sizes of steps where a
/// controller chooses them. InvalidArgument, beginning with `where`, says what to change.
[[nodiscard]] EDDY_EXPORT NoisePlan plan_noise(const SolveOptions& options, bool is_adaptive,
                                               TimePlan& times, std::vector<CellRow>& rows,
                                               const char* where);

/// How many steps lead over a stretch: the last one is cut short, or stretched by a hundredth.
[[nodiscard]] EDDY_EXPORT double steps_over(double length, double dt0);

/// Each lane is at least one path, all with numbers below the limit.
EDDY_EXPORT void require_path_numbers(const NoisePlan& plan, std::ptrdiff_t num_lanes,
                                      std::int64_t paths, const char* where);
/// One path to a lane where there is no noise.
EDDY_EXPORT void require_no_paths(std::int64_t paths, const char* where);
struct NoNoise;
inline void require_path_numbers(const NoNoise&, std::ptrdiff_t, std::int64_t paths,
                                 const char* where) {
    require_no_paths(paths, where);
}

}  // namespace eddy::inline v0::detail
