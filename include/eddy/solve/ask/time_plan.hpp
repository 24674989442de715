#pragma once
// The times of a solve, checked and turned into elapsed time, |t − t0|, which grows from 0 whatever
// the direction: see lane/times.hpp.
// Test: tests/solve/times.cpp, tests/solve/dense_output.cpp

#include <cstdint>
#include <eddy/core/export.hpp>
#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/lane/times.hpp>
#include <vector>

namespace eddy::inline v0 {

/// The times of a call, which owns them. All sizes and times but t0 and save_time are elapsed.
struct TimePlan {
    double t0 = 0;
    double direction = 1;  // of t: 1 or −1
    double span = 0;
    std::vector<Tstop> tstops;      // ascending; the last is the end
    std::vector<double> saves;      // ascending
    std::vector<double> save_time;  // the same as they were given, in t
    double dt0 = 0;                 // 0: chosen for each lane
    double dt_min = 0;
    double dt_max = 0;
    std::int64_t max_steps = 0;
    bool saves_the_end = false;  // no save points were given

    /// The times as lanes see them.
    [[nodiscard]] detail::LaneTimes view() const {
        return {.t0 = t0,
                .direction = direction,
                .span = span,
                .dt0 = dt0,
                .dt_min = dt_min,
                .dt_max = dt_max,
                .max_steps = max_steps,
                .tstops = tstops.data(),
                .num_tstops = static_cast<std::int32_t>(tstops.size()),
                .num_saves = static_cast<std::int32_t>(saves.size()),
                .saves = saves.data(),
                .save_time = save_time.data(),
                .saves_the_end = saves_the_end};
    }
};

/// What a method, its controller and the state make of times.
struct TimeUse {
    bool is_adaptive;           // a controller chooses the sizes of steps
    bool steps_to_save_points;  // as if they stood in `step_to`
    bool is_float = false;      // f sees its time in float
};

namespace detail {

/// InvalidArgument where t1 is missing; else a copy of the options, for a solver object that is made with them:
/// made here, once for all callers.
[[nodiscard]] EDDY_EXPORT SolveOptions with_end(const SolveOptions& options, const char* where);

}  // namespace detail

/// Checks the times of the options; InvalidArgument, beginning with `where`, says what to change.
[[nodiscard]] EDDY_EXPORT TimePlan plan_times(const SolveOptions& options, TimeUse use,
                                              const char* where);

/// Checks that the times can be kept as sums of two floats.
EDDY_EXPORT void require_within_floats(const TimePlan& plan, const char* where);

}  // namespace eddy::inline v0
