#pragma once
// Where steps of adaptive size may be: time between two tstops is cut into cells of one length, of
// which the last ends on the tstop, and a step is a dyadic part of a cell, [i, i + 1)·2^-level of it.
// Two such parts are nested or disjoint: a step within a rejected one cannot cross its end, so that
// every time at which the path was looked at is stepped to, whatever a controller wants. That is what
// adaptive steps need to converge (Foster & Jelinčič 2023, arXiv:2311.14201, section 1).
// A place is read off the elapsed time, and a level off the size of a step, which is exactly that of
// the cell divided by a power of two: nothing else has to be carried or logged.
// Test: tests/steppers/dyadic.cpp

#include <eddy/core/math.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/steppers/brownian/noise.hpp>

namespace eddy::inline v0 {

/// The cells between two tstops; times are elapsed.
struct CellRow {
    double begin = 0, end = 0;
    double first = 0;  // number of the first cell
    double count = 1;
};

namespace detail {

/// Where the noise of a step is.
template <class Time>
struct NoisePlace {
    Time cell, units;   // the cell's number, the 2^-depth parts of it before the step
    Time part, length;  // of the cell that the step is, a power of two; the cell's length
};

/// Where a step begins.
template <class Time>
struct DyadicPlace {
    Time begin, length;  // of the cells that are counted from here on
    Time cell;           // number of the first of them
    Time units;          // 2^-depth cells from there to here
};

/// The cells in which the steps of each place of a Time lie.
template <class Time>
class DyadicGrid {
    using Counts = typename CountsOf<Time>::type;

  public:
    /// Cells of one `length`, each divided `depth` times at most.
    EDDY_HD void begin(double length, int depth) {
        length_ = length;
        unit_ = from_bits(bits(1.) - (static_cast<std::uint64_t>(depth) << 52));
        per_unit_ = 1 / unit_;
        for (int place = 0; place < num_lanes_of<Time>; ++place) head_for(place, {});
    }
    /// The steps of a place head for the end of a row.
    EDDY_HD void head_for(int place, const CellRow& row) {
        // The very bits of `end_of` the cell before.
        const double last = mul_add(row.count - 1, length_, row.begin), rest = row.end - last;
        set_lane(begin_, place, row.begin);
        set_lane(first_, place, row.first);
        set_lane(last_begin_, place, last);
        set_lane(last_length_, place, rest > 0 ? rest : 1.);  // no steps
        set_lane(last_, place, row.first + row.count - 1);
    }

    [[nodiscard]] EDDY_INLINE EDDY_HD DyadicPlace<Time> place_at(const Time& elapsed) const {
        const auto is_last = elapsed >= last_begin_;
        DyadicPlace<Time> at;
        at.begin = select(is_last, last_begin_, begin_);
        at.length = select(is_last, last_length_, Time(length_));
        at.cell = select(is_last, last_, first_);
        at.units = floor(mul_add((elapsed - at.begin) / at.length, Time(per_unit_), Time(0.5)));
        return at;
    }
    /// The largest step from there that exceeds `wanted` by no more than a hundredth, or the least.
    [[nodiscard]] EDDY_INLINE EDDY_HD Time size_at(const DyadicPlace<Time>& at,
                                                   const Time& wanted) const {
        constexpr std::uint64_t mantissa = (std::uint64_t{1} << 52) - 1;
        const Time most = min(wanted * Time(1.01), at.length);
        // Bits of numbers are in their order, and 2^52 of them apart a number is twice another.
        const Counts whole = bits(at.length);
        const Counts below = whole - bits(most) + Counts(mantissa);
        const Time by_size = from_bits(Counts(whole - (below & Counts(~mantissa))));
        const Counts here = as_counts(at.units) | as_counts(Time(per_unit_));
        const auto aligned = static_cast<Time>(here & (Counts(0) - here));
        const Time unit = at.length * Time(unit_);
        return max(min(by_size, aligned * unit), unit);
    }
    /// Elapsed time behind a step of `size`; `tstop` where that is where it leads.
    [[nodiscard]] EDDY_INLINE EDDY_HD Time end_of(const DyadicPlace<Time>& at, const Time& size,
                                                  const Time& tstop) const {
        const Time end = mul_add(part_of(at, size), Time(per_unit_), at.units);
        const auto lands = (at.begin == last_begin_) & (end >= Time(per_unit_));
        return select(lands, tstop, mul_add(end, at.length * Time(unit_), at.begin));
    }

    /// The part of a cell that a step is: a power of two.
    [[nodiscard]] EDDY_INLINE EDDY_HD static Time part_of(const DyadicPlace<Time>& at,
                                                          const Time& size) {
        return from_bits(Counts(Counts(bits(1.)) - (Counts(bits(at.length)) - bits(size))));
    }
    /// The least size of a step.
    [[nodiscard]] EDDY_INLINE EDDY_HD Time least_at(const DyadicPlace<Time>& at) const {
        return at.length * Time(unit_);
    }
    /// The number of the cell of a step, and of the units before it in that cell.
    [[nodiscard]] EDDY_INLINE EDDY_HD NoisePlace<Time> noise_at(const DyadicPlace<Time>& at,
                                                                const Time& size) const {
        const Time cells = floor(at.units * Time(unit_));
        const Time part = select(size > Time(0), part_of(at, size), Time(1));
        return {at.cell + cells, at.units - cells * Time(per_unit_), part, at.length};
    }

  private:
    Time begin_, first_, last_begin_, last_length_, last_;
    double length_ = 1;               // of all cells but the last
    double unit_ = 1, per_unit_ = 1;  // 2^-depth, and 2^depth
};

}  // namespace detail
}  // namespace eddy::inline v0
