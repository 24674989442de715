#pragma once
// A tile: some lanes of one equation, taken through it together. A vector of the equation is a block of
// rows, (component, lane): the numbers of one component for all lanes of the tile are neighbours, and
// rows follow each other without a gap. What is the same for all lanes, weights and literals, is read
// as the plain numbers that it is. Invariant: `width`, the lanes of a row, is a multiple of the lanes
// of a native vector; a lane's numbers do not depend on its neighbours.
// Test: tests/core/tile_outer.cpp

#include <cstddef>
#include <eddy/core/pack_math.hpp>

namespace eddy::inline v0::detail {

/// One native vector of a row.
template <class Real>
using TilePack = Pack<Real, native_lanes<Real>>;

/// So many lanes, rounded up to whole vectors.
template <class Real>
[[nodiscard]] constexpr int whole_vectors(int lanes) {
    constexpr int of_vector = native_lanes<Real>;
    return (lanes + of_vector - 1) / of_vector * of_vector;
}

/// A vector of the equation, as an operand: component c begins at data + c·stride, and is a row, or,
/// where it is uniform, one number for all lanes. A scalar that stands for every component has stride 0.
template <class Real>
struct TileVector {
    const Real* data = nullptr;
    std::ptrdiff_t stride = 0;
    bool is_uniform = false;

    /// The vector, or pack, of component c that begins with lane `lane`.
    template <class P = TilePack<Real>>
    [[nodiscard]] EDDY_INLINE P load(int c, int lane) const {
        const Real* const component = data + c * stride;
        return is_uniform ? P(*component) : P::load(component + lane);
    }
    [[nodiscard]] TileVector from(int component) const {
        return {data + component * stride, stride, is_uniform};
    }
};

/// Calls body(lane) for the first lane of each vector of a row.
template <class Real, class Body>
EDDY_INLINE inline void for_vectors(int width, Body&& body) {
    for (int lane = 0; lane < width; lane += native_lanes<Real>) body(lane);
}

}  // namespace eddy::inline v0::detail
