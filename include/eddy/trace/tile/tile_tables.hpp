#pragma once
// What is read, added or found at places that are computed, of the rows of a tile: lane by lane, each at a
// place of its own. They compute what tables.hpp computes for a single lane.
// Test: tests/solve/tables.cpp

#include <eddy/core/tile/tile.hpp>
#include <eddy/trace/tables.hpp>

namespace eddy::inline v0::detail {

template <class Real>
[[nodiscard]] EDDY_INLINE inline Real number_of(const TileVector<Real>& x, int component,
                                                int lane) {
    return x.data[component * x.stride + (x.is_uniform ? 0 : lane)];
}

/// Components floor(place), … of x.
template <class Real>
[[gnu::noinline]] void rows_at(Real* to, int size, int width, const TileVector<Real>& x, int length,
                               const TileVector<Real>& place) {
    for (int lane = 0; lane < width; ++lane) {
        const int first = place_of(number_of(place, 0, lane), length, size);
        for (int k = 0; k < size; ++k) {
            const int at = first + k;
            to[k * width + lane] = 0 <= at && at < length ? number_of(x, at, lane)
                                                          : std::numeric_limits<Real>::quiet_NaN();
        }
    }
}

template <class Real>
[[gnu::noinline]] void rows_of_knots(Real* to, int width, const TileVector<Real>& knots, int length,
                                     bool is_even, const TileVector<Real>& x) {
    for (int lane = 0; lane < width; ++lane)
        to[lane] = static_cast<Real>(
            knot_below(number_of(x, 0, lane), length, is_even,
                       [&](int k) EDDY_INLINE { return number_of(knots, k, lane); }));
}

/// Numbers that are added to components floor(place), … of a vector of `length`.
template <class Real>
struct AddedAt {
    int length;
    TileVector<Real> place, added;
    int size;

    /// Calls body(component, number) for those of a lane.
    template <class Body>
    EDDY_INLINE void for_lane(int lane, Body body) const {
        const int first = place_of(number_of(place, 0, lane), length, size);
        for (int k = 0; k < size; ++k) {
            if (0 <= first + k && first + k < length) body(first + k, number_of(added, k, lane));
        }
    }
};

/// Adds them to rows.
template <class Real>
[[gnu::noinline]] void add_rows_at(Real* to, int width, const AddedAt<Real>& what) {
    for (int lane = 0; lane < width; ++lane)
        what.for_lane(lane, [&](int c, Real number) EDDY_INLINE {
            Real& sum = to[static_cast<std::ptrdiff_t>(c) * width + lane];
            sum = sum + number;
        });
}

}  // namespace eddy::inline v0::detail
