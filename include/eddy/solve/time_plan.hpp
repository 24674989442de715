#pragma once
// The times of a solve, checked and turned into progress: s = |t − t0|, which grows from 0 whatever
// the direction. Steps and landings are computed in s, so that a short span far from t = 0 loses no
// digits; f is asked at t = t0 + direction·s.

#include <cstdint>
#include <eddy/solve/options.hpp>
#include <vector>

namespace eddy {

/// A time that a step must end at. At a jump the step ends just before it and the next begins at
/// it; elsewhere `before` and `after` are one.
struct Stop {
    double before;
    double after;
    double t;  // as it was given
};

/// What the lanes need to know of time. All sizes and times but t0 are progress.
struct TimePlan {
    double t0 = 0;
    double direction = 1;  // of t: 1 or −1
    double span = 0;
    std::vector<Stop> stops;        // ascending; the last is the end
    std::vector<double> saves;      // ascending
    std::vector<double> save_time;  // the same as they were given, in t
    double dt0 = 0;                 // 0: chosen for each lane
    double dt_min = 0;
    double dt_max = 0;
    std::int64_t max_steps = 0;
    bool saves_the_end = false;  // no save points were given
};

/// What a method and its controller make of times.
struct TimeUse {
    bool is_adaptive;           // a controller chooses the sizes of steps
    bool steps_to_save_points;  // as if they stood in `step_to`
};

/// Checks the times of the options; InvalidArgument, beginning with `where`, says what to change.
[[nodiscard]] TimePlan plan_times(const SolveOptions& options, TimeUse use, const char* where);

}  // namespace eddy
