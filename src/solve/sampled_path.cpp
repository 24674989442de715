#include <cmath>
#include <eddy/core/error.hpp>
#include <eddy/solve/call/sampled_path.hpp>
#include <limits>

namespace eddy::inline v0::detail {

PathTimes::PathTimes(const SolveOptions& options, std::int64_t number) {
    constexpr const char* where = "brownian_path";
    require_argument(!options.t0.is_own() && !options.t1.is_own() && !options.save_at.is_own,
                     "{}: each trajectory has times of its own; give those of one", where);
    t0_ = options.t0;
    t1_ = options.t1;
    require_noisy_steps(options, where);
    TimePlan times = plan_times(options, {false, true}, where);
    plan_ = plan_noise(options, false, times, rows_, where);
    require_argument(number >= 0 && number < static_cast<std::int64_t>(path_limit),
                     "{}: path {}; paths count from 0, those of a call from its "
                     "first_path, and have numbers below 2^48",
                     where, number);
    require_path_numbers(plan_, static_cast<std::ptrdiff_t>(number) + 1, 1, where);
    dt0_ = times.dt0;
}

bool PathTimes::is_cut(const TimeOfPath& at) const {
    return at.cell == rows_[at.row].count - 1 && std::fabs(rest(at.row) / plan_.cell - 1) > 1e-9;
}

double PathTimes::steps_of_cut_cell(std::size_t row) const { return steps_over(rest(row), dt0_); }

TimeOfPath PathTimes::find(double t) const {
    require_argument(t >= t0_ && t <= t1_,
                     "brownian_path: t = {}; give a time from t0 = {} to t1 = {}", t, t0_, t1_);
    const double rounding =
        8 * std::numeric_limits<double>::epsilon() * std::fmax(std::fabs(t0_), std::fabs(t1_));
    const double elapsed = t - t0_;
    TimeOfPath at;
    while (at.row + 1 < rows_.size() && elapsed > rows_[at.row].end + rounding) ++at.row;
    const CellRow& row = rows_[at.row];
    const double since = std::fmax(0, elapsed - row.begin);
    at.cell = std::fmin(std::floor((since + rounding) / plan_.cell), row.count - 1);
    const double in_cell = std::fmax(0, since - at.cell * plan_.cell);
    const bool cut = is_cut(at);
    const double unit = cut ? dt0_ : std::ldexp(plan_.cell, -depth);
    at.units = std::round(in_cell / unit);
    double nearest = at.units * unit;
    if (cut && std::fabs(elapsed - row.end) <= rounding) {
        at.units = steps_of_cut_cell(at.row);
        nearest = in_cell;
    }
    require_argument(
        std::fabs(nearest - in_cell) <= rounding,
        "brownian_path: t = {} is not on the path's grid; the nearest time that is, is "
        "{}",
        t, t0_ + row.begin + at.cell * plan_.cell + nearest);
    return at;
}

}  // namespace eddy::inline v0::detail
