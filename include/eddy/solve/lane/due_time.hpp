#pragma once
// When events are due of any function of elapsed time: `f(elapsed)` is its value, `f.bounds` and `f.slopes` its
// intervals, `f.width` what time resolves there. Times are elapsed.
//
// An event that a tstop or a save point is within rounding of comes a little before it, as those of the state do,
// so that what is there knows the event; one that ends its lane is there. An event at the start, of a function that
// passes zero there in the direction that was declared, ends a first step too short to move anything.
// Test: tests/solve/timed_events.cpp, tests/backends/row_events.cpp

#include <eddy/solve/lane/event_members.hpp>
#include <eddy/solve/lane/landing.hpp>
#include <eddy/steppers/next_crossing.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// When the next event of a function is: positive. If negative, there is none before so much time has passed, and
/// what comes then is to be found when it has. NaN where the function is no number.
using DueTime = double;

/// t at elapsed times of a lane.
struct ElapsedTime {
    const LaneTimes& times;

    [[nodiscard]] EDDY_HD double t(double elapsed) const {
        return mul_add(times.direction, elapsed, times.t0);
    }
    [[nodiscard]] EDDY_HD Interval between(double from, double to) const {
        const double a = t(from), b = t(to);
        return {min(a, b), max(a, b)};
    }
    /// What elapsed time resolves, and what t does; never zero.
    [[nodiscard]] EDDY_HD double width(double elapsed) const {
        constexpr double epsilon = std::numeric_limits<double>::epsilon();
        return 4 * epsilon * abs(elapsed) + 2 * epsilon * abs(t(elapsed)) + 0x1p-60 * times.span;
    }
};

/// The events of one function in a lane.
template <class Function>
struct DueSearch {
    const LaneTimes& times;
    const Function& f;
    Crossing wanted;
    bool ends;  // does the lane end there?

    /// Where a search begins for the first of the lane. At its very start no function is said to pass zero whose events
    /// count either way: from where would it have come?
    [[nodiscard]] EDDY_INLINE EDDY_HD double from_start() const {
        const double start = f.width(0);
        if (wanted == Crossing::either) return start;
        const double before = f(-start);
        return before - before == 0 ? -start : 0;
    }
    /// And for the one behind that at `elapsed`.
    [[nodiscard]] EDDY_INLINE EDDY_HD double from_behind(double elapsed) const {
        return elapsed + 2 * before_told(elapsed) + 4 * f.width(elapsed);
    }
    /// The next one from there.
    [[nodiscard]] EDDY_INLINE EDDY_HD DueTime next(double from) const {
        const double to = times.span + f.width(times.span);
        if (!(from < to)) return -std::numeric_limits<double>::infinity();
        CrossingSearch search(
            f, CrossingsSought{wanted != Crossing::falling, wanted != Crossing::rising});
        const NextCrossing next = search.run(from, to);
        if (next.is_found) return max(apart(next.at, f.width(next.at)), least_size());
        if (next.at >= to) return -std::numeric_limits<double>::infinity();
        return next.at > from ? -max(next.at, least_size())
                              : std::numeric_limits<double>::quiet_NaN();
    }

  private:
    static constexpr double epsilon = std::numeric_limits<double>::epsilon();

    [[nodiscard]] EDDY_HD static double next_to(double elapsed) { return 2 * epsilon * elapsed; }
    /// How far before a time that is told: room for several events, one behind the other.
    [[nodiscard]] EDDY_HD static double before_told(double elapsed) {
        return 64 * epsilon * elapsed;
    }
    /// A size of step that moves nothing.
    [[nodiscard]] EDDY_HD double least_size() const { return 0x1p-54 * times.span; }
    /// Apart from the times that are told.
    [[nodiscard]] EDDY_HD double apart(double elapsed, double width) const {
        const auto is_near = [&](double told) { return told <= elapsed + width; };
        const std::int32_t tstop = first_from(elapsed - width, times.num_tstops,
                                              [&](int k) { return times.tstops[k].elapsed; });
        const double stop = tstop < times.num_tstops ? times.tstops[tstop].elapsed
                                                     : std::numeric_limits<double>::infinity();
        const double save = next_save(times, first_save_from(times, elapsed - width));
        const double told = min(stop, save);
        if (!is_near(told)) return elapsed;
        if (ends) return is_near(stop) ? stop : save + next_to(save);
        return told - before_told(told);
    }
};

/// What becomes of an event that is due, where the lane has gone on to `elapsed`, with an event of its own if there was
/// one: by next(from), and behind(elapsed).
template <class Next, class Behind>
[[nodiscard]] EDDY_INLINE EDDY_HD inline DueTime renewed_due(const LaneTimes& times, DueTime due,
                                                             double elapsed, bool is_met,
                                                             const Next& next,
                                                             const Behind& behind) {
    if (is_met) return behind(elapsed);
    if (due < 0 && -due <= elapsed) return next(-due);
    if (due > 0 && due <= elapsed)  // at the time of another: next
        return elapsed + (elapsed < 0x1p-50 * times.span
                              ? 0.25 * elapsed
                              : 2 * std::numeric_limits<double>::epsilon() * elapsed);
    return due;
}

}  // namespace eddy::inline v0::detail
