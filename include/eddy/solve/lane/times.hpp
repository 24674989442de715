#pragma once
// Time, as lanes see it: `elapsed` = |t − t0| grows from 0 whatever the direction. Steps and landings
// are computed in it, so that a short span far from t = 0 loses no digits; f is asked at
// t = t0 + direction · elapsed, on its own side of every jump.
// Test: tests/solve/times.cpp, tests/solve/stage_times.cpp

#include <cstdint>
#include <eddy/core/float_float.hpp>
#include <eddy/core/math.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/lane/impulse.hpp>
#include <eddy/solve/lane/rows.hpp>
#include <limits>

namespace eddy::inline v0 {

/// A time that a step must end at. Steps that head for it ask f at times from `lowest` to `highest`
/// only: strictly between the jumps on either side, if by no more than the last place of t. So it
/// does not matter whether f changes before `t < jump` or `t <= jump`.
struct Tstop {
    double elapsed;
    double t;  // as it was given
    double lowest = -std::numeric_limits<double>::infinity();
    double highest = std::numeric_limits<double>::infinity();
    bool is_jump = false;
    detail::ImpulseRange impulses{};  // that change the state where a step has landed here

    [[nodiscard]] EDDY_HD double confine(double time) const {
        return max(min(time, highest), lowest);
    }
};

namespace detail {

/// The least size of a step, and the distance of numbers next to 1.
template <class Time>
struct TimeLimits {
    static constexpr double least = std::numeric_limits<double>::min();
    static constexpr double epsilon = std::numeric_limits<double>::epsilon();
};
template <>
struct TimeLimits<FloatFloat> {
    static constexpr double least = std::numeric_limits<float>::min();
    static constexpr double epsilon = 0x1p-47;
};

/// What all lanes of a call know of time. Sizes are elapsed time.
struct SharedTimes {
    double direction = 1;  // of t: 1 or −1
    double dt0 = 0;        // 0: chosen for each lane
    double dt_min = 0;
    double dt_max = 0;
    std::int64_t max_steps = 0;
    // The most that a lane has: those of one that has fewer are filled up.
    std::int32_t num_tstops = 0;
    std::int32_t num_saves = 0;
    std::int32_t num_impulses = 0;
    bool saves_the_end = false;  // no save points were given
    bool saves_before_impulses = false;
    // Up to whole words: else a copy is two that overlap, and the next copy of it waits for both.
    std::int16_t no_times = 0;
};

/// Where the time of a lane begins, and how far it goes.
struct LaneSpan {
    double t0 = 0, span = 0;
};

/// What a lane knows of time. Sizes and times but t0 and save_time are elapsed.
struct LaneTimes : SharedTimes, LaneSpan {
    const Tstop* tstops = nullptr;      // ascending, filled up with the end
    const double* saves = nullptr;      // ascending, filled up with infinity
    const double* save_time = nullptr;  // the same as they were given, in t
    const PlannedImpulse* impulses = nullptr;

    [[nodiscard]] EDDY_HD const Tstop& end() const { return tstops[num_tstops - 1]; }
    [[nodiscard]] EDDY_HD bool is_end(std::int32_t tstop) const {
        return tstops[tstop].elapsed == span;
    }
    /// The impulses at t0, before all others.
    [[nodiscard]] EDDY_HD ImpulseRange impulses_at_start() const {
        return {0, tstops[0].impulses.first};
    }
};

/// What a lane knows of impulses.
struct LaneImpulses {
    const PlannedImpulse* impulses;
};

/// The times of the lanes of a call: tables with a row for each of the caller's rows, or, where lanes have no times
/// of their own, with one for all. The span is then the longest.
struct CallTimes : SharedTimes, LaneSpan {
    const LaneSpan* own = nullptr;             // (row); null: one row for all
    const Tstop* tstops = nullptr;             // (row, tstop)
    const double* saves = nullptr;             // (row, save point)
    const double* save_time = nullptr;         // (row, save point)
    const PlannedImpulse* impulses = nullptr;  // (row, impulse)
    /// On a device, where rows of the lanes are told apart by their order: (row) that of the tables.
    EnsembleView<const double> table_rows{};

    /// The row of the tables.
    [[nodiscard]] EDDY_HD std::ptrdiff_t table_row(Row row) const {
        if (!own) return 0;
        const std::ptrdiff_t k = to_index(row);
        return table_rows.first ? static_cast<std::ptrdiff_t>(table_rows(k, 0)) : k;
    }
    /// The times of the lane that is given this row.
    [[nodiscard]] EDDY_HD LaneTimes of(Row row) const { return of_table_row(table_row(row)); }
    [[nodiscard]] EDDY_HD LaneTimes of_table_row(std::ptrdiff_t k) const {
        return {static_cast<const SharedTimes&>(*this),
                own ? own[k] : static_cast<const LaneSpan&>(*this),
                tstops + k * num_tstops,
                saves + k * num_saves,
                save_time + k * num_saves,
                impulses + k * num_impulses};
    }
    /// The impulses of that lane, and one of its tstops, where the rest is not asked for.
    [[nodiscard]] EDDY_HD LaneImpulses impulses_of(Row row) const {
        return {impulses + table_row(row) * num_impulses};
    }
    [[nodiscard]] EDDY_HD const Tstop& tstop_of(Row row, std::int32_t tstop) const {
        return tstops[table_row(row) * num_tstops + tstop];
    }
    /// The times of all lanes, which have none of their own.
    [[nodiscard]] EDDY_HD LaneTimes of_all() const { return of(Row{0}); }
};

/// What every round reads of times, in the numbers that lanes keep time in.
template <class Number>
struct Clock {
    Number direction{};
    Number dt0{}, per_dt0{};  // 1/dt0; of constant steps
    Number dt_max{}, least{};

    Clock() = default;
    explicit Clock(const SharedTimes& times)
        : direction(times.direction),
          dt0(times.dt0),
          per_dt0(1 / times.dt0),
          dt_max(times.dt_max),
          least(max(times.dt_min, TimeLimits<Number>::least)) {}
};

/// The time where `elapsed` has passed: asking for elapsed + size and then for t keeps the time of a
/// last stage that of the next step's first, bit for bit. It stays within bounds, whatever the
/// rounding: on one side of each jump.
template <class Time>
struct TimeAt {
    Time t0;
    ScalarOf<Time> direction;
    Time elapsed, lowest, highest;

    template <class Fraction>
    [[nodiscard]] EDDY_INLINE EDDY_HD friend Time operator+(const TimeAt& at,
                                                            const Fraction& further) {
        const Time t = mul_add(Time(at.direction), at.elapsed + further, at.t0);
        return max(min(t, at.highest), at.lowest);
    }
};

/// The times of a step's stages, between those of its two ends: none is beyond an end, whatever the
/// rounding, and those of the ends are exact.
template <class Time>
struct StageTimes {
    Time first, last, length;

    EDDY_INLINE EDDY_HD StageTimes(const TimeAt<Time>& start, const Time& size)
        : first(start + Time(0)), last(start + size), length(last - first) {}

    [[nodiscard]] EDDY_INLINE EDDY_HD Time at_fraction(double c) const {
        if (c == 0) return first;
        if (c == 1) return last;
        return mul_add(Time(c), length, first);
    }
};

}  // namespace detail

}  // namespace eddy::inline v0
