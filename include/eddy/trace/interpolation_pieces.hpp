#pragma once
// The pieces of an interpolated table, on numbers and traced values alike: the slopes at the knots, and the
// cubic between two knots from values and slopes. What only the knots decide is kept of each interval.
// Fritsch & Butland 1984, SIAM J. Sci. Stat. Comput. 5, doi:10.1137/0905021: the slopes of `pchip`, which
// overshoot nowhere; at the ends those of Moler 2004, Numerical Computing with MATLAB, section 3.6.
// Test: tests/trace/interpolate.cpp, tests/trace/long_splines.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/core/list.hpp>
#include <eddy/core/vec.hpp>

namespace eddy::inline v0::detail {

/// An interval of the knots, with its neighbours.
template <class Number>
struct KnotInterval {
    Number begin;
    Number per_own, per_before, per_after;  // 1 / length; 0 where there is none
    Number left, right;  // how the slope at each end weighs those of its two intervals
};
inline constexpr int interval_size = 6;

/// The interval behind knot i.
[[nodiscard]] constexpr KnotInterval<double> knot_interval(const List<double>& knots,
                                                           std::size_t i) {
    const auto length = [&](std::size_t k) { return knots[k + 1] - knots[k]; };
    const std::size_t last = knots.size() - 2;
    const double h = length(i), before = i > 0 ? length(i - 1) : 0,
                 after = i < last ? length(i + 1) : 0;
    const auto weight = [](double a, double b) { return (2 * b + a) / (3 * (a + b)); };
    return {.begin = knots[i],
            .per_own = 1 / h,
            .per_before = i > 0 ? 1 / before : 0,
            .per_after = i < last ? 1 / after : 0,
            .left = i > 0 ? weight(before, h) : h / (h + after),
            .right = i < last ? weight(h, after) : h / (h + before)};
}

/// The harmonic mean of the slopes on both sides; 0 where they differ in sign.
template <class Number>
[[nodiscard]] constexpr Number mean_slope(const Number& a, const Number& b, const Number& weight) {
    const Number zero(0);
    return select(a * b <= zero, zero, a * (b / (weight * b + (Number(1) - weight) * a)));
}
/// The slope at an end, from those of its interval and of the next one.
template <class Number>
[[nodiscard]] constexpr Number end_slope(const Number& own, const Number& next,
                                         const Number& weight) {
    const Number zero(0), three(3);
    const Number slope = own + weight * (own - next), most = three * own;
    const Number limited =
        select(own * next <= zero, select(most * most < slope * slope, most, slope), slope);
    return select(slope * own <= zero, zero, limited);
}
/// The slopes at both ends of an interval, from the values at its ends and beyond.
template <class Number, class Mask>
[[nodiscard]] constexpr Vec<Number, 2> pchip_slopes(const Vec<Number, 4>& y,
                                                    const KnotInterval<Number>& interval,
                                                    const Mask& is_first, const Mask& is_last) {
    const Number before = (y[1] - y[0]) * interval.per_before,
                 own = (y[2] - y[1]) * interval.per_own, after = (y[3] - y[2]) * interval.per_after;
    return {select(is_first, end_slope(own, after, interval.left),
                   mean_slope(before, own, interval.left)),
            select(is_last, end_slope(own, before, interval.right),
                   mean_slope(own, after, interval.right))};
}

/// The coefficients, in powers of x − begin, of the cubic through values and slopes at both ends.
template <class Number>
[[nodiscard]] constexpr Vec<Number, 4> cubic_through(const Vec<Number, 2>& y,
                                                     const Vec<Number, 2>& slopes,
                                                     const Number& per_length) {
    const Number mean = (y[1] - y[0]) * per_length, three(3), two(2);
    const Number square = (three * mean - two * slopes[0] - slopes[1]) * per_length;
    const Number cube = (slopes[0] + slopes[1] - two * mean) * per_length * per_length;
    return {y[0], slopes[0], square, cube};
}
template <class Number>
[[nodiscard]] constexpr Number value_of_cubic(const Vec<Number, 4>& c, const Number& s) {
    return c[0] + s * (c[1] + s * (c[2] + s * c[3]));
}

/// The slopes of a natural spline solve a tridiagonal system, of which the knots decide the factors: forward
/// g_i = scale_i r_i − lower_i g_{i−1}, backward d_i = g_i − upper_i d_{i+1}, where r_i sums
/// (y_{k+1} − y_k) / h_k² over the intervals k beside knot i.
struct SplineFactors {
    List<double> per_square;           // (interval)
    List<double> scale, lower, upper;  // (knot)

    explicit constexpr SplineFactors(const List<double>& knots) {
        double before = 0, carried = 0;
        for (std::size_t i = 0; i < knots.size(); ++i) {
            const double after = i + 1 < knots.size() ? 1 / (knots[i + 1] - knots[i]) : 0;
            const double pivot = 2 * (before + after) - before * carried;
            if (after > 0) per_square.push_back(after * after);
            scale.push_back(3 / pivot);
            lower.push_back(before / pivot);
            upper.push_back(after / pivot);
            carried = upper.back();
            before = after;
        }
    }
    /// How many knots away a slope still counts: of those further off 2⁻⁵⁴ is left, or less, for each sweep multiplies what
    /// it carries by a factor below 2/3 at every knot, by 0.27 where knots are even.
    [[nodiscard]] constexpr int reach() const {
        const int below = longest_run(lower, 1, lower.size()),
                  above = longest_run(upper, 0, upper.size() - 1);
        return 1 + (below < above ? above : below);
    }

  private:
    /// Of the factors [first, last) that follow each other, the most whose product is above 2⁻⁵⁴.
    static constexpr int longest_run(const List<double>& factors, std::size_t first,
                                     std::size_t last) {
        constexpr double least = 1.0 / (std::uint64_t{1} << 54);
        double product = 1;
        std::size_t longest = 0;
        for (std::size_t i = first; i < last; ++i) {
            product *= factors[i];
            while (first <= i && product <= least) product /= factors[first++];
            if (first > i) product = 1;
            longest = longest < i + 1 - first ? i + 1 - first : longest;
        }
        return static_cast<int>(longest);
    }
};

/// The slopes of a natural spline at its knots, of `values` that are numbers.
template <class Number>
[[nodiscard]] constexpr List<Number> spline_slopes(const List<double>& knots,
                                                   const List<Number>& values) {
    const SplineFactors factors(knots);
    const std::size_t count = knots.size();
    List<Number> slopes(count, Number(0));
    Number before(0), last(0);
    for (std::size_t i = 0; i < count; ++i) {
        Number after(0);
        if (i + 1 < count)
            after = (values[i + 1] - values[i]) * convert<Number>(factors.per_square[i]);
        last = convert<Number>(factors.scale[i]) * (before + after) -
               convert<Number>(factors.lower[i]) * last;
        slopes[i] = last;
        before = after;
    }
    for (std::size_t i = count - 1; i-- > 0;)
        slopes[i] = slopes[i] - convert<Number>(factors.upper[i]) * slopes[i + 1];
    return slopes;
}

/// What is asked of knots before any work.
[[nodiscard]] constexpr bool are_increasing(const List<double>& knots) {
    for (std::size_t i = 0; i < knots.size(); ++i) {
        if (knots[i] - knots[i] != 0 || (i > 0 && !(knots[i - 1] < knots[i]))) return false;
    }
    return true;
}
/// Are they about evenly spaced, so that a division finds the interval or its neighbour?
[[nodiscard]] constexpr bool are_even(const List<double>& knots) {
    const double length = (knots.back() - knots[0]) / static_cast<double>(knots.size() - 1);
    for (std::size_t i = 0; i < knots.size(); ++i) {
        const double off = (knots[i] - knots[0]) / length - static_cast<double>(i);
        if (off < -0.125 || 0.125 < off) return false;
    }
    return true;
}

}  // namespace eddy::inline v0::detail
