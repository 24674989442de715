#pragma once
// When events are that depend on time and parameters only, not on the state: known before steps are taken, by a
// search that misses none (steppers/next_crossing.hpp), and steps end there. Functions of fields as programs, in
// numbers and in intervals.
// Test: tests/solve/timed_events.cpp

#include <eddy/ad/jvp.hpp>
#include <eddy/solve/lane/due_time.hpp>
#include <eddy/solve/lane/event.hpp>

namespace eddy::inline v0::detail {

/// The i-th function, of elapsed time. `Parameters` have plain numbers.
template <class Field, int i, class Parameters>
struct FunctionOfTime : ElapsedTime {
    using Value = FunctionProgram<Field, typename EventFunctions<Field>::template Root<i>>;
    using Slope = decltype(jvp<0>(Value{}));
    struct NoState {
        [[nodiscard]] EDDY_HD double operator[](int) const { return 0; }
    };

    const Parameters& p;

    EDDY_HD FunctionOfTime(const LaneTimes& of_lane, const Parameters& parameters)
        : ElapsedTime{of_lane}, p(parameters) {}

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
};

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

    /// The first of the lane.
    template <int i>
    [[nodiscard, gnu::noinline]] EDDY_HD DueTime first() const {
        return next<i>(search<i>([](const auto& due) { return due.from_start(); }));
    }
    /// The next one, behind that at `elapsed`.
    template <int i>
    [[nodiscard, gnu::noinline]] EDDY_HD DueTime behind(double elapsed) const {
        return next<i>(search<i>([&](const auto& due) { return due.from_behind(elapsed); }));
    }
    /// What becomes of one that is due.
    template <int i>
    [[nodiscard]] EDDY_HD DueTime renewed(DueTime due, double elapsed, bool is_met) const {
        return renewed_due(
            times_, due, elapsed, is_met, [&](double from) { return next<i>(from); },
            [&](double of) { return behind<i>(of); });
    }

  private:
    template <int i>
    [[nodiscard, gnu::noinline]] EDDY_HD DueTime next(double from) const {
        return search<i>([&](const auto& due) { return due.next(from); });
    }
    template <int i, class Use>
    [[nodiscard]] EDDY_INLINE EDDY_HD double search(const Use& use) const {
        const FunctionOfTime<Field, i, Plain> f{times_, p_};
        return use(DueSearch<FunctionOfTime<Field, i, Plain>>{times_, f, crossing_of<Field>(i),
                                                              is_terminal<Field>(i)});
    }

    const LaneTimes times_;
    Plain p_;
};

}  // namespace eddy::inline v0::detail
