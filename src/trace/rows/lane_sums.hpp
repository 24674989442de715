#pragma once
// Sums over the lanes of a tile: of rows, and of rows times a few others. As many sums as a vector has
// elements are carried as vectors; then pairs of them are merged, each half the length, until one vector
// holds them all. Elements are added as `sum` halves a vector, so that a sum has the bits of one by itself.
// Test: tests/core/tile_outer.cpp

#include "tile.hpp"
#include "transpose.hpp"

namespace eddy::inline v0::detail {

/// The lanes of a tile that take part, in their order.
struct TileLanes {
    const int* lane = nullptr;
    int count = 0;
    bool are_all = false;  // lanes 0, 1, … up to the width
};

/// Elements of the lower, or the upper, halves of a and b in turn.
template <int size, bool upper>
struct HalvesOf {
    static constexpr int at(int i) {
        return (i % 2 == 0 ? 0 : size) + i / 2 + (upper ? size / 2 : 0);
    }
};

/// Element i: the sum of the elements of vector i, added as `sum` adds them.
template <class V, int size>
[[nodiscard]] EDDY_INLINE inline V sums_of_elements(V (&vectors)[size]) {
    const auto merge = [&]<int count>(const auto& again) EDDY_INLINE {
        simd::for_parts<count>([&]<int i>() EDDY_INLINE {
            const V &a = vectors[i], &b = vectors[i + count];
            vectors[i] = simd::choose_elements<HalvesOf<size, false>>(a, b) +
                         simd::choose_elements<HalvesOf<size, true>>(a, b);
        });
        if constexpr (count > 1) again.template operator()<count / 2>(again);
    };
    if constexpr (size > 1) merge.template operator()<size / 2>(merge);
    return vectors[0];
}

/// The vectors of a row, added.
template <class Real>
[[nodiscard]] EDDY_INLINE inline TilePack<Real> add_vectors(const Real* row, int width) {
    using P = TilePack<Real>;
    P of_row = P::load(row);
    for (int lane = P::size; lane < width; lane += P::size) of_row = of_row + P::load(row + lane);
    return of_row;
}

/// sum(c) += Σ_lanes x_c. Of a whole row vectors are added, then their elements.
template <class Real>
[[gnu::noinline]] void add_over_lanes(Real* total, int size, const TileVector<Real>& x,
                                      const TileLanes& lanes) {
    using P = TilePack<Real>;
    int c = 0;
    if (lanes.are_all && !x.is_uniform) {
        for (; c + P::size <= size; c += P::size) {
            typename P::Part sums[P::size];
            simd::for_parts<P::size>([&]<int i>() EDDY_INLINE {
                sums[i] = add_vectors(x.data + (c + i) * x.stride, lanes.count).part[0];
            });
            (P::load(total + c) + P::from_part(sums_of_elements(sums))).store(total + c);
        }
    }
    for (; c < size; ++c) {
        const Real* const row = x.data + c * x.stride;
        if (lanes.are_all && !x.is_uniform) {
            total[c] += sum(add_vectors(row, lanes.count));
        } else {
            for (int k = 0; k < lanes.count; ++k) total[c] += row[x.is_uniform ? 0 : lanes.lane[k]];
        }
    }
}

/// A matrix that outer products are added to: its transpose has the strides swapped.
template <class Real>
struct TileSum {
    Real* data;
    std::ptrdiff_t row_stride, column_stride;
    int rows, columns;
};
template <class Real>
[[nodiscard]] TileSum<Real> transposed(const TileSum<Real>& sum) {
    return {sum.data, sum.column_stride, sum.row_stride, sum.columns, sum.rows};
}

/// Element i: Σ_lanes u_i v, of as many rows u_i as a vector has elements: row(i, lane) and factor(lane) are
/// their vectors from a lane on.
template <class Real, class Row, class Factor>
EDDY_INLINE inline TilePack<Real> sums_of_products(int width, const Row& row,
                                                   const Factor& factor) {
    using P = TilePack<Real>;
    typename P::Part sums[P::size];
    simd::for_parts<P::size>([&]<int i>() EDDY_INLINE { sums[i] = P(Real(0)).part[0]; });
    for (int lane = 0; lane < width; lane += P::size) {
        const P v = factor(lane);
        simd::for_parts<P::size>([&]<int i>() EDDY_INLINE {
            sums[i] = mul_add(row(i, lane), v, P::from_part(sums[i])).part[0];
        });
    }
    return P::from_part(sums_of_elements(sums));
}

/// sum(r, c) += Σ_lanes u_r v_c of one evaluation, where there are few columns: the rows of u are read where
/// they lie; a transposition would take longer than the products. Lanes that take no part are zeros in both,
/// whatever they hold.
template <class Real>
[[gnu::noinline]] void add_thin_outer(const TileSum<Real>& sum, const TileVector<Real>& u,
                                      const TileVector<Real>& v, const TileLanes& lanes) {
    using P = TilePack<Real>;
    alignas(64) Real takes_part[64] = {};  // as many lanes as the widest tile has
    for (int k = 0; k < lanes.count; ++k) takes_part[lanes.lane[k]] = 1;
    const int width = lanes.count == 0 ? 0 : whole_vectors<Real>(lanes.lane[lanes.count - 1] + 1);
    const auto chosen = [&](const P& x, int lane) EDDY_INLINE {
        return select(P::load(takes_part + lane) != P(Real(0)), x, P(Real(0)));
    };
    for (int row = 0; row < sum.rows; row += P::size) {
        const int count = sum.rows - row < P::size ? sum.rows - row : P::size;
        const bool is_plain = lanes.are_all && !u.is_uniform && count == P::size;
        for (int column = 0; column < sum.columns; ++column) {
            const auto factor = [&](int lane)
                                    EDDY_INLINE { return chosen(v.load(column, lane), lane); };
            const Real* const first = u.data + row * u.stride;
            const P sums =
                is_plain
                    ? sums_of_products<Real>(
                          width,
                          [&](int i, int lane)
                              EDDY_INLINE { return P::load(first + i * u.stride + lane); },
                          factor)
                    : sums_of_products<Real>(
                          width,
                          [&](int i, int lane) EDDY_INLINE {
                              // Behind the last row it is that row again, and goes nowhere.
                              return chosen(u.load(row + (i < count ? i : count - 1), lane), lane);
                          },
                          factor);
            Real* const at = sum.data + row * sum.row_stride + column * sum.column_stride;
            if (count == P::size && sum.row_stride == 1) {
                (P::load(at) + sums).store(at);
            } else {
                Real of_rows[P::size];
                sums.store(of_rows);
                for (int r = 0; r < count; ++r) at[r * sum.row_stride] += of_rows[r];
            }
        }
    }
}

}  // namespace eddy::inline v0::detail
