#pragma once
// On which side of zero the functions of events are: known from their values, or, where these are nothing but
// rounding, said from where they move to.
// Test: tests/solve/events.cpp

#include <eddy/solve/lane/chain_state.hpp>
#include <eddy/solve/lane/lane_start.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// How far from zero a side is that is only said; twice that far one of an event that remains to be found.
inline constexpr double said_side = std::numeric_limits<double>::min();

/// How far apart the ends of a closed bracket are: what times, and steps of numbers like the state's, resolve.
template <class Scalar>
[[nodiscard]] EDDY_HD double event_width(double elapsed, double size) {
    return 4 * std::numeric_limits<double>::epsilon() * (elapsed + size) +
           static_cast<double>(std::numeric_limits<Scalar>::epsilon()) * size;
}

/// The side of zero on which a lane goes on from where g is `now` and its slope, in elapsed time, `slope`:
/// where g is no further from zero than `still`, that to which it moves. Zero where it rests.
[[nodiscard]] EDDY_HD inline double side_from(double now, double slope, double still) {
    constexpr double least = said_side;
    if (!(abs(now) <= still)) return now;
    return slope > 0 ? least : slope < 0 ? -least : 0;
}

/// Is one of the functions, or of their sides, no number in a place?
template <class Time, int count>
[[nodiscard]] EDDY_HD bool is_lost(const Vec<Time, count>& g, int place) {
    bool lost = false;
    for (int i = 0; i < count; ++i) lost = lost || !is_number(get_lane(g.data[i], place));
    return lost;
}
/// A step behind an event that is no longer than time was resolved there shows nothing of functions whose sides
/// are only said: which are this far from zero. Of a longer step there are none.
template <class Spec>
[[nodiscard]] EDDY_HD double blurred_sides(const ChainState<Spec>& x, double size, int place) {
    const double resolved = event_width<typename Spec::Scalar>(get_lane(x.elapsed, place),
                                                               get_lane(x.events.uncut, place));
    return size <= 2 * resolved && !(get_lane(x.events.high, place) > 0) ? said_side : -1;
}

}  // namespace eddy::inline v0::detail
