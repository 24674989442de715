#pragma once
// The times of a solve, checked and turned into elapsed time, |t − t0|, which grows from 0 whatever
// the direction: see lane/times.hpp.
// Test: tests/solve/times.cpp, tests/solve/dense_output.cpp, tests/solve/impulse_plans.cpp

#include <cstdint>
#include <eddy/core/export.hpp>
#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/lane/times.hpp>
#include <span>
#include <vector>

namespace eddy::inline v0 {

namespace detail {

/// The times of save points: (row, save point), a row for each lane where lanes have their own.
struct SavedTimes {
    std::vector<double> t{};
    std::size_t num_saves = 0;
    bool is_own = false;
};

/// The same of a plan, whose numbers they are: a solution copies them into memory that it has.
struct PlannedSaves {
    std::span<const double> t;
    std::size_t num_saves;
    bool is_own;
};

}  // namespace detail

/// The times of a call, which owns them. All sizes and times but t0 and save_time are elapsed. Tables have one row,
/// or one for each lane: see CallTimes.
struct EDDY_EXPORT TimePlan {
    double t0 = 0;         // of all lanes, or of the first
    double direction = 1;  // of t: 1 or −1
    double span = 0;       // the longest
    bool is_own = false;
    bool rows_differ = false;           // else all lanes read the first row, as one list
    std::vector<detail::LaneSpan> own;  // (lane)
    std::vector<double> row_numbers;    // (lane), for a device
    std::size_t num_tstops = 0, num_saves = 0, num_impulses = 0;
    std::vector<Tstop> tstops;      // (row, tstop) ascending; filled up with the end
    std::vector<double> saves;      // (row, save point) ascending; filled up with infinity
    std::vector<double> save_time;  // the same as they were given, in t; filled up with NaN
    std::vector<detail::PlannedImpulse> impulses;  // (row, impulse)
    bool saves_before_impulses = false;
    double dt0 = 0;  // 0: chosen for each lane
    double dt_min = 0;
    double dt_max = 0;
    std::int64_t max_steps = 0;
    bool saves_the_end = false;  // no save points were given

    TimePlan();
    TimePlan(const TimePlan&);
    TimePlan(TimePlan&&) noexcept;
    TimePlan& operator=(const TimePlan&);
    TimePlan& operator=(TimePlan&&) noexcept;
    ~TimePlan();

    /// Has a lane a save point k?
    [[nodiscard]] bool has_point(std::ptrdiff_t lane, std::size_t k) const {
        return !is_own || saves[static_cast<std::size_t>(lane) * num_saves + k] <
                              std::numeric_limits<double>::infinity();
    }
    /// The times of saved points, for whoever reads the solution.
    [[nodiscard]] detail::PlannedSaves saved() const { return {save_time, num_saves, is_own}; }
    /// The times as lanes see them.
    [[nodiscard]] detail::CallTimes view() const;
};

/// What a method, its controller and the state make of times.
struct TimeUse {
    bool is_adaptive;           // a controller chooses the sizes of steps
    bool steps_to_save_points;  // as if they stood in `step_to`
    bool is_float = false;      // f sees its time in float
    bool reads_inputs = false;
    bool passes_knots = false;  // of inputs
};

namespace detail {

/// InvalidArgument where t1 is missing; else a copy of the options, for a solver object that is made with them:
/// made here, once for all callers.
[[nodiscard]] EDDY_EXPORT SolveOptions with_end(const SolveOptions& options, const char* where);
[[nodiscard]] EDDY_EXPORT SolveOptions copy_of(const SolveOptions& options);
/// Puts the amounts of impulses, where they are others than those of the plan, into it.
EDDY_EXPORT void renew_amounts(const Impulses& impulses, std::vector<PlannedImpulse>& planned,
                               const char* where);
/// How many trajectories start from a function of their parameters: as many as these are `said` to be of (0: nothing), or
/// as are asked for, or one.
[[nodiscard]] EDDY_EXPORT std::ptrdiff_t lanes_of_start(const TimeOption& t0, std::ptrdiff_t said,
                                                        std::ptrdiff_t asked, const char* where);

}  // namespace detail

/// Checks that lanes with times of their own are so many, before anything is made of these.
EDDY_EXPORT void require_times_of(const SolveOptions& options, std::ptrdiff_t num_lanes,
                                  const char* where);

/// Checks the times of the options; InvalidArgument, beginning with `where`, says what to change.
[[nodiscard]] EDDY_EXPORT TimePlan plan_times(const SolveOptions& options, TimeUse use,
                                              const char* where);

/// Checks that the times can be kept as sums of two floats.
EDDY_EXPORT void require_within_floats(const TimePlan& plan, const char* where);

}  // namespace eddy::inline v0
