#pragma once
// Places in a vector that are computed: on a pack, another one for each lane. What is read or added there
// does not grow with the vector. One text for programs, the interpreter and plain numbers.
// Test: tests/trace/interpolate.cpp, tests/trace/loops.cpp

#include <bit>
#include <eddy/core/lanes.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/core/static_for.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// Bounds of values, of which no comparison decides.
template <class Real>
concept is_bounds = requires {
    Real::line();
};

/// floor(index), where that is a place from −size on in a vector of `length`; else `length`.
template <class Number>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr int place_of(const Number& index, int length,
                                                         int size) {
    if (!(static_cast<Number>(-size) < index && index < static_cast<Number>(length))) return length;
    const int whole = static_cast<int>(index);
    return whole - (index < static_cast<Number>(whole));
}

/// Hands components floor(index), … of a vector, `size` of them, to store(k, value); NaN where there is
/// none. read(k, lane) is component k of the vector, of that lane.
template <class Component, int size, class Index, class Read, class Store>
EDDY_INLINE EDDY_HD constexpr void components_at(const Index& index, int length, Read read,
                                                 Store store) {
    using Lane = LaneOf<Component>;
    [[maybe_unused]] constexpr auto nan = std::numeric_limits<ScalarOf<Component>>::quiet_NaN();
    if constexpr (is_bounds<Index>) {
        for_components<size>([&](int k) EDDY_INLINE { store(k, Component(Index::line())); });
    } else if constexpr (num_lanes_of<Index> == 1) {
        const int first = place_of(index, length, size);
        for_components<size>([&](int k) EDDY_INLINE {
            const int at = first + k;
            store(k, 0 <= at && at < length ? convert<Component>(read(at, 0)) : Component(nan));
        });
    } else {
        Component found[size];
        for_components<size>([&](int k) EDDY_INLINE { found[k] = Component(nan); });
        static_for<0, num_lanes_of<Index>>([&]<int lane>() EDDY_INLINE {
            const int first = place_of(get_lane(index, lane), length, size);
            for_components<size>([&](int k) EDDY_INLINE {
                const int at = first + k;
                set_lane(found[k], lane,
                         0 <= at && at < length ? convert<Lane>(read(at, lane)) : Lane(nan));
            });
        });
        for_components<size>([&](int k) EDDY_INLINE { store(k, found[k]); });
    }
}

/// Calls body(first, lanes) for each place that lanes have, with a mask of those that have it: once where
/// all have the same. Lanes that are nowhere in the vector are left out.
template <class Index, class Body>
EDDY_INLINE EDDY_HD constexpr void for_places(const Index& index, int length, int size, Body body) {
    if constexpr (num_lanes_of<Index> == 1) {
        if (const int first = place_of(index, length, size); first < length) body(first, true);
    } else {
        const Index whole = floor(index);
        auto left = Index(static_cast<ScalarOf<Index>>(-size)) < whole;
        for (int lane = 0; lane < num_lanes_of<Index> && any(left); ++lane) {
            if (!get_lane(left, lane)) continue;
            const auto of_lane = get_lane(whole, lane);
            const auto same = left & (whole == Index(of_lane));
            if (const int first = place_of(of_lane, length, size); first < length)
                body(first, same);
            left = left & !same;
        }
    }
}

/// The number of the last of `length` increasing knots that is not above x, neither the last knot nor below
/// the first: the interval of x, the first or last where it is outside. NaN is in the first.
/// read(k) is knot k. About even spacing finds it by a division.
template <class Number, class Read>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr int knot_below(const Number& x, int length,
                                                           bool is_even, Read read) {
    if (is_even) {
        const Number begin = read(0), last = static_cast<Number>(length - 2);
        const Number guess =
            (x - begin) * (static_cast<Number>(length - 1) / (read(length - 1) - begin));
        int knot = 0;
        if (guess > 0) knot = static_cast<int>(guess < last ? guess : last);
        if (knot > 0 && x < read(knot)) return knot - 1;
        return knot < length - 2 && read(knot + 1) <= x ? knot + 1 : knot;
    }
    int knot = 0;
    for (int left = length - 1; left > 1;) {
        const int half = left / 2;
        knot = read(knot + half) <= x ? knot + half : knot;
        left -= half;
    }
    return knot;
}

/// The same of each lane, which read(k, lane) reads for.
template <class Index, class Read>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr Index knots_below(const Index& x, int length,
                                                              bool is_even, Read read) {
    using Number = LaneOf<Index>;
    if constexpr (is_bounds<Index>) {
        return Index::line();
    } else if constexpr (num_lanes_of<Index> == 1) {
        return static_cast<Index>(
            knot_below(x, length, is_even, [&](int k) EDDY_INLINE { return Number(read(k, 0)); }));
    } else if (is_even) {
        Index knots(Number(0));
        static_for<0, num_lanes_of<Index>>([&]<int lane>() EDDY_INLINE {
            const int knot = knot_below(get_lane(x, lane), length, true,
                                        [&](int k) EDDY_INLINE { return Number(read(k, lane)); });
            set_lane(knots, lane, static_cast<Number>(knot));
        });
        return knots;
    } else {  // all lanes take a step together: none waits for itself
        constexpr int lanes = num_lanes_of<Index>;
        Number of[lanes];
        int knot[lanes];
        static_for<0, lanes>([&]<int lane>() EDDY_INLINE {
            of[lane] = get_lane(x, lane);
            knot[lane] = 0;
        });
        for (int left = length - 1; left > 1;) {
            const int half = left / 2;
            static_for<0, lanes>([&]<int lane>() EDDY_INLINE {
                const int middle = knot[lane] + half;
                knot[lane] = Number(read(middle, lane)) <= of[lane] ? middle : knot[lane];
            });
            left -= half;
        }
        Index knots(Number(0));
        static_for<0, lanes>([&]<int lane>() EDDY_INLINE {
            set_lane(knots, lane, static_cast<Number>(knot[lane]));
        });
        return knots;
    }
}

}  // namespace eddy::inline v0::detail
