#pragma once
// When events are that depend on time and parameters only, not on the state: known before steps are taken, by a
// search that misses none (steppers/next_crossing.hpp), and steps end there. Times are elapsed.
//
// An event that a tstop or a save point is within rounding of comes a little before it, as those of the state do,
// so that what is there knows the event; one that ends its lane is there. An event at the start, of a function that
// passes zero there in the direction that was declared, ends a first step too short to move anything.
// Test: tests/solve/timed_events.cpp

#include <eddy/ad/jvp.hpp>
#include <eddy/solve/lane/event.hpp>
#include <eddy/solve/lane/landing.hpp>
#include <eddy/steppers/next_crossing.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// The i-th function, of elapsed time. `Parameters` have plain numbers.
template <class Field, int i, class Parameters>
struct FunctionOfTime {
    using Value = FunctionProgram<Field, typename EventFunctions<Field>::template Root<i>>;
    using Slope = decltype(jvp<0>(Value{}));
    struct NoState {
        [[nodiscard]] EDDY_HD double operator[](int) const { return 0; }
    };

    const LaneTimes& times;
    const Parameters& p;

    [[nodiscard]] EDDY_HD double operator()(double elapsed) const {
        double value = 0;
        evaluate<Value, double>([&]<int output>(int, double is) { value = is; }, t(elapsed),
                                NoState{}, p);
        return value;
    }
    [[nodiscard]] EDDY_HD Interval bounds(double from, double to) const {
        Interval values = Interval::line();
        evaluate<Value, Interval>([&]<int output>(int, const Interval& are) { values = are; },
                                  between(from, to), NoState{}, p);
        return values;
    }
    [[nodiscard]] EDDY_HD Interval slopes(double from, double to) const {
        Interval slopes = Interval::line();
        evaluate<Slope, Interval>([&]<int output>(int, const Interval& are) { slopes = are; },
                                  between(from, to), NoState{}, p, Interval(times.direction));
        return slopes;
    }
    /// What elapsed time resolves, and what t does; never zero.
    [[nodiscard]] EDDY_HD double width(double elapsed) const {
        constexpr double epsilon = std::numeric_limits<double>::epsilon();
        return 4 * epsilon * abs(elapsed) + 2 * epsilon * abs(t(elapsed)) + 0x1p-60 * times.span;
    }

  private:
    [[nodiscard]] EDDY_HD double t(double elapsed) const {
        return mul_add(times.direction, elapsed, times.t0);
    }
    [[nodiscard]] EDDY_HD Interval between(double from, double to) const {
        const double a = t(from), b = t(to);
        return {min(a, b), max(a, b)};
    }
};

/// When the next event of a function is: positive. If negative, there is none before so much time has passed, and
/// what comes then is to be found when it has. NaN where the function is no number.
using DueTime = double;

/// The events of a lane with these times and parameters. `Parameters` have numbers of any type.
template <class Field, class LaneParameters>
class EventTimes {
    struct Plain {
        const LaneParameters& p;
        [[nodiscard]] EDDY_HD double operator[](int i) const {
            return static_cast<double>(primal(p[i]));
        }
    };

  public:
    EDDY_HD EventTimes(const LaneTimes& times, const LaneParameters& p) : times_(times), p_{p} {}

    /// The first of the lane. At its very start no function is said to pass zero whose events count either way: from
    /// where would it have come?
    template <int i>
    [[nodiscard, gnu::noinline]] EDDY_HD DueTime first() const {
        const FunctionOfTime<Field, i, Plain> f{times_, p_};
        const double start = f.width(0);
        double from = start;
        if (crossing_of<Field>(i) != Crossing::either) {
            const double before = f(-start);
            from = before - before == 0 ? -start : 0;
        }
        return search<i>(from);
    }
    /// The next one, behind that at `elapsed`.
    template <int i>
    [[nodiscard, gnu::noinline]] EDDY_HD DueTime behind(double elapsed) const {
        const FunctionOfTime<Field, i, Plain> f{times_, p_};
        return search<i>(elapsed + 2 * before_told(elapsed) + 4 * f.width(elapsed));
    }
    /// What becomes of one that is due, where the lane has gone on to `elapsed`, with an event of its own if there
    /// was one.
    template <int i>
    [[nodiscard]] EDDY_HD DueTime renewed(DueTime due, double elapsed, bool is_met) const {
        if (is_met) return behind<i>(elapsed);
        if (due < 0 && -due <= elapsed) return search<i>(-due);
        if (due > 0 && due <= elapsed)  // at the time of another: next
            return elapsed + (elapsed < 0x1p-50 * times_.span ? 0.25 * elapsed : next_to(elapsed));
        return due;
    }

  private:
    static constexpr double epsilon = std::numeric_limits<double>::epsilon();

    [[nodiscard]] EDDY_HD static double next_to(double elapsed) { return 2 * epsilon * elapsed; }
    /// How far before a time that is told: room for several events, one behind the other.
    [[nodiscard]] EDDY_HD static double before_told(double elapsed) {
        return 64 * epsilon * elapsed;
    }
    /// A size of step that moves nothing.
    [[nodiscard]] EDDY_HD double least_size() const { return 0x1p-54 * times_.span; }

    template <int i>
    [[nodiscard, gnu::noinline]] EDDY_HD DueTime search(double from) const {
        constexpr Crossing wanted = crossing_of<Field>(i);
        const FunctionOfTime<Field, i, Plain> f{times_, p_};
        const double to = times_.span + f.width(times_.span);
        if (!(from < to)) return -std::numeric_limits<double>::infinity();
        CrossingSearch search(
            f, CrossingsSought{wanted != Crossing::falling, wanted != Crossing::rising});
        const NextCrossing next = search.run(from, to);
        if (next.is_found)
            return max(apart(next.at, f.width(next.at), is_terminal<Field>(i)), least_size());
        if (next.at >= to) return -std::numeric_limits<double>::infinity();
        return next.at > from ? -max(next.at, least_size())
                              : std::numeric_limits<double>::quiet_NaN();
    }
    /// Apart from the times that are told.
    [[nodiscard]] EDDY_HD double apart(double elapsed, double width, bool ends) const {
        const auto is_near = [&](double told) { return told <= elapsed + width; };
        const std::int32_t tstop = first_from(elapsed - width, times_.num_tstops,
                                              [&](int k) { return times_.tstops[k].elapsed; });
        const double stop = tstop < times_.num_tstops ? times_.tstops[tstop].elapsed
                                                      : std::numeric_limits<double>::infinity();
        const double save = next_save(times_, first_save_from(times_, elapsed - width));
        const double told = min(stop, save);
        if (!is_near(told)) return elapsed;
        if (ends) return is_near(stop) ? stop : save + next_to(save);
        return told - before_told(told);
    }

    const LaneTimes times_;
    Plain p_;
};

}  // namespace eddy::inline v0::detail
