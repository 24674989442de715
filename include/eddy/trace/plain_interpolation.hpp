#pragma once
// What a table asks for and refuses, and its interpolation on numbers, packs and dual numbers.
// Test: tests/trace/interpolate.cpp

#include <eddy/core/error.hpp>
#include <eddy/trace/interpolation_pieces.hpp>
#include <eddy/trace/tables.hpp>
#include <limits>
#include <string>

namespace eddy::inline v0 {

/// What `interpolate` gives outside of the knots.
enum class Outside : unsigned char {
    nan,         ///< NaN, so that a step that leaves the table is rejected and made smaller
    hold,        ///< the value at the nearest knot
    extrapolate  ///< the first or the last piece, continued
};
namespace detail {

enum class Interpolation : unsigned char { linear, pchip, cubic_hermite, natural_spline };

inline constexpr const char* knots_not_increasing =
    "interpolate: the knots must be finite and increase; sort the table by its knots, and leave "
    "out what stands in it twice";
inline std::string table_sizes_message(int knots, int values) {
    return compose(
        "interpolate: got {} knots and {} values; give at least 2 knots, and a value "
        "(and a slope) for each",
        knots, values);
}

/// Where a table is read instead of outside: at its nearest end, or nowhere.
template <class Number>
[[nodiscard]] constexpr Number within(const Number& x, const Number& first, const Number& last,
                                      Outside outside) {
    const Number nan = convert<Number>(std::numeric_limits<double>::quiet_NaN());
    const bool holds = outside == Outside::hold;
    return select(x < first, holds ? first : nan, select(last < x, holds ? last : nan, x));
}

/// The value at x of a table, on numbers, packs and dual numbers.
template <class Real>
constexpr Real plain_interpolate(Interpolation kind, const List<double>& knots,
                                 const List<Real>& values, List<Real> slopes, Real x,
                                 Outside outside) {
    const auto count = static_cast<int>(knots.size());
    if (knots.size() < 2 || values.size() != knots.size() ||
        (kind == Interpolation::cubic_hermite && slopes.size() != knots.size()))
        throw InvalidArgument(table_sizes_message(
            count,
            static_cast<int>(values.size() == knots.size() ? slopes.size() : values.size())));
    if (!are_increasing(knots)) throw InvalidArgument(knots_not_increasing);
    if (kind == Interpolation::natural_spline) slopes = spline_slopes(knots, values);
    if (outside != Outside::extrapolate)
        x = within(x, convert<Real>(knots.front()), convert<Real>(knots.back()), outside);
    Real value(0);
    for (int lane = 0; lane < num_lanes_of<Real>; ++lane) {
        using Lane = LaneOf<Real>;
        const Lane of_lane = get_lane(x, lane);
        const auto i =
            static_cast<std::size_t>(knot_below(primal(of_lane), count, false, [&](int k) {
                return knots[static_cast<std::size_t>(k)];
            }));
        const auto read = [&](const List<Real>& of, std::size_t k) {
            return k < of.size() ? get_lane(of[k], lane) : Lane(0);
        };
        const KnotInterval<double> interval = knot_interval(knots, i);
        const Lane s = of_lane - Lane(interval.begin), per_own(interval.per_own);
        const Vec<Lane, 2> y{read(values, i), read(values, i + 1)};
        Vec<Lane, 2> d{read(slopes, i), read(slopes, i + 1)};
        if (kind == Interpolation::pchip && count > 2)
            d = pchip_slopes<Lane>(
                {read(values, i - 1), y[0], y[1], read(values, i + 2)},
                {Lane(interval.begin), per_own, Lane(interval.per_before), Lane(interval.per_after),
                 Lane(interval.left), Lane(interval.right)},
                i == 0, i + 2 == knots.size());
        const bool is_linear = kind == Interpolation::linear || (count == 2 && slopes.empty());
        set_lane(value, lane,
                 is_linear ? y[0] + s * ((y[1] - y[0]) * per_own)
                           : value_of_cubic(cubic_through(y, d, per_own), s));
    }
    return value;
}

}  // namespace detail
}  // namespace eddy::inline v0
