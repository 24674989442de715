#pragma once
// The times of a solve, checked and turned into progress: s = |t − t0|, which grows from 0 whatever
// the direction. Steps and landings are computed in s, so that a short span far from t = 0 loses no
// digits; f is asked at t = t0 + direction·s, on its own side of every jump.

#include <algorithm>
#include <cstdint>
#include <eddy/solve/options.hpp>
#include <limits>
#include <vector>

namespace eddy {

/// A time that a step must end at. Steps that head for it ask f at times from `lowest` to `highest`
/// only: strictly between the jumps on either side, if by no more than the last place of t. So it
/// does not matter whether f changes before `t < jump` or `t <= jump`.
struct Stop {
    double s;
    double t;  // as it was given
    double lowest = -std::numeric_limits<double>::infinity();
    double highest = std::numeric_limits<double>::infinity();
    bool is_jump = false;

    [[nodiscard]] double confine(double time) const {
        return std::max(std::min(time, highest), lowest);
    }
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

/// What a method, its controller and the state make of times.
struct TimeUse {
    bool is_adaptive;           // a controller chooses the sizes of steps
    bool steps_to_save_points;  // as if they stood in `step_to`
    bool is_float = false;      // f sees its time in float
};

/// Checks the times of the options; InvalidArgument, beginning with `where`, says what to change.
[[nodiscard]] TimePlan plan_times(const SolveOptions& options, TimeUse use, const char* where);

}  // namespace eddy
