#pragma once
// What the calls on vectors of Thrust are given.

#include <cstddef>
#include <vector>

#include "solve/problems.hpp"

namespace thrust_calls {

using support::Array;

inline constexpr std::ptrdiff_t lanes = 70;

inline Array some(double offset) {
    Array array(lanes, 2);
    for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        array(lane, 0) = offset + 0.1 * static_cast<double>(lane % 17);
        array(lane, 1) = 1.5 - 0.05 * static_cast<double>(lane % 13);
    }
    return array;
}
/// What the calls are given, in arrays of any kind.
template <class A>
struct Arrays {
    A y0, p, y0_tangent, p_tangent, row;
    std::vector<A> data;

    template <class Change>
    [[nodiscard]] auto changed(const Change& change) const {
        using Other = decltype(change(y0));
        Arrays<Other> other{change(y0),        change(p),   change(y0_tangent),
                            change(p_tangent), change(row), {}};
        for (const A& array : data) other.data.push_back(change(array));
        return other;
    }
};
inline Arrays<Array> problem() {
    return {some(0.1), some(1), some(-0.3), some(0.2), Array(1, 2, 0.9), {some(0.4), some(0.2)}};
}

}  // namespace thrust_calls
