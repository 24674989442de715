#pragma once
// Sums over the lanes of a tile: of rows, and of rows times a few others. As many sums as a vector has
// elements are carried as vectors; then pairs of them are merged, each half the length, until one vector
// holds them all. Elements are added as `sum` halves a vector, so that a sum has the bits of one by itself.
// Test: tests/core/tile_outer.cpp

#include <eddy/core/static_for.hpp>
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

/// Calls body<P>() with the pack that sums over a row are carried in: 64 bytes, in one vector or several, so that all processors of a
/// level give the same bits; of a narrower row eight numbers.
template <class Real, class Body>
EDDY_INLINE inline void with_sum_pack(int width, const Body& body) {
    constexpr int most = 64 / sizeof(Real);
    if constexpr (most > 8 && most > native_lanes<Real>)
        if (width % most != 0) return body.template operator()<Pack<Real, 8>>();
    body.template operator()<Pack<Real, most>>();
}
/// The parts of a pack as one, added as `sum` halves it.
template <class P, int count = P::num_parts>
[[nodiscard]] EDDY_INLINE inline typename P::Part sum_of_parts(P x) {
    if constexpr (count > 1) {
        simd::for_parts<count / 2>(
            [&]<int i>() EDDY_INLINE { x.part[i] = x.part[i] + x.part[i + count / 2]; });
        return sum_of_parts<P, count / 2>(x);
    } else {
        return x.part[0];
    }
}
/// The packs of a row, added.
template <class P>
[[nodiscard]] EDDY_INLINE inline P add_packs(const typename P::value_type* row, int width) {
    P of_row = P::load(row);
    for (int lane = P::size; lane < width; lane += P::size) of_row = of_row + P::load(row + lane);
    return of_row;
}

/// sum(c) += Σ_lanes x_c. Of a whole row packs are added, then their elements.
template <class P, class Real>
[[gnu::noinline]] void add_all_lanes(Real* total, int size, const TileVector<Real>& x, int width) {
    constexpr int at_once = P::part_lanes;
    using Sums = Pack<Real, at_once>;
    int c = 0;
    for (; c + at_once <= size; c += at_once) {
        typename P::Part sums[at_once];
        simd::for_parts<at_once>([&]<int i>() EDDY_INLINE {
            sums[i] = sum_of_parts(add_packs<P>(x.data + (c + i) * x.stride, width));
        });
        (Sums::load(total + c) + Sums::from_part(sums_of_elements(sums))).store(total + c);
    }
    for (; c < size; ++c) total[c] += sum(add_packs<P>(x.data + c * x.stride, width));
}
template <class Real>
void add_over_lanes(Real* total, int size, const TileVector<Real>& x, const TileLanes& lanes) {
    if (lanes.are_all && !x.is_uniform)
        return with_sum_pack<Real>(lanes.count, [&]<class P>() EDDY_INLINE {
            add_all_lanes<P>(total, size, x, lanes.count);
        });
    for (int c = 0; c < size; ++c)
        for (int k = 0; k < lanes.count; ++k)
            total[c] += x.data[c * x.stride + (x.is_uniform ? 0 : lanes.lane[k])];
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

/// Element i of total[k]: Σ_lanes u_i v_k, of as many rows u_i as a vector has elements: row(i, lane) and factor(k, lane) are
/// their packs from a lane on.
template <class P, int columns, class Real, class Row, class Factor>
EDDY_INLINE inline void sums_of_products(Pack<Real, P::part_lanes> (&total)[columns], int width,
                                         const Row& row, const Factor& factor) {
    constexpr int rows = P::part_lanes;
    P sums[columns][rows];
    static_for<0, columns>([&]<int k>() EDDY_INLINE {
        static_for<0, rows>([&]<int i>() EDDY_INLINE { sums[k][i] = P(Real(0)); });
    });
    for (int lane = 0; lane < width; lane += P::size) {
        P v[columns];
        static_for<0, columns>([&]<int k>() EDDY_INLINE { v[k] = factor(k, lane); });
        static_for<0, rows>([&]<int i>() EDDY_INLINE {
            const P u = row(i, lane);
            static_for<0, columns>([&]<int k>()
                                       EDDY_INLINE { sums[k][i] = mul_add(u, v[k], sums[k][i]); });
        });
    }
    static_for<0, columns>([&]<int k>() EDDY_INLINE {
        typename P::Part parts[rows];
        static_for<0, rows>([&]<int i>() EDDY_INLINE { parts[i] = sum_of_parts(sums[k][i]); });
        total[k] = Pack<Real, rows>::from_part(sums_of_elements(parts));
    });
}

/// Some columns of add_thin_outer from one on.
template <class P, int columns, class Real>
[[gnu::noinline]] void add_thin_columns(const TileSum<Real>& sum, int column,
                                        const TileVector<Real>& u, const TileVector<Real>& v,
                                        const TileLanes& lanes) {
    constexpr int at_once = P::part_lanes;
    alignas(64) Real takes_part[64] = {};  // as many lanes as the widest tile has
    for (int k = 0; k < lanes.count; ++k) takes_part[lanes.lane[k]] = 1;
    const int end = lanes.count == 0 ? 0 : lanes.lane[lanes.count - 1] + 1;
    const int width = (end + P::size - 1) / P::size * P::size;
    const auto chosen = [&](const P& x, int lane) EDDY_INLINE {
        return select(P::load(takes_part + lane) != P(Real(0)), x, P(Real(0)));
    };
    for (int row = 0; row < sum.rows; row += at_once) {
        const int count = sum.rows - row < at_once ? sum.rows - row : at_once;
        Pack<Real, at_once> sums[columns];
        if (lanes.are_all && !u.is_uniform && count == at_once)
            sums_of_products<P, columns, Real>(
                sums, width,
                [&](int i, int lane)
                    EDDY_INLINE { return P::load(u.data + (row + i) * u.stride + lane); },
                [&](int k, int lane) EDDY_INLINE { return v.template load<P>(column + k, lane); });
        else
            sums_of_products<P, columns, Real>(
                sums, width,
                [&](int i, int lane) EDDY_INLINE {
                    // Behind the last row it is that row again, and goes nowhere.
                    const int of_u = row + (i < count ? i : count - 1);
                    return chosen(u.template load<P>(of_u, lane), lane);
                },
                [&](int k, int lane)
                    EDDY_INLINE { return chosen(v.template load<P>(column + k, lane), lane); });
        for (int k = 0; k < columns; ++k) {
            Real* const at = sum.data + row * sum.row_stride + (column + k) * sum.column_stride;
            if (count == at_once && sum.row_stride == 1) {
                (Pack<Real, at_once>::load(at) + sums[k]).store(at);
            } else {
                Real of_rows[at_once];
                sums[k].store(of_rows);
                for (int r = 0; r < count; ++r) at[r * sum.row_stride] += of_rows[r];
            }
        }
    }
}
/// sum(r, c) += Σ_lanes u_r v_c of one evaluation, over rows of `width` lanes, where there are few columns: the rows of u
/// are read where they lie; a transposition would take longer than the products. Lanes that take no part are zeros in both,
/// whatever they hold.
template <class Real>
void add_thin_outer(const TileSum<Real>& sum, const TileVector<Real>& u, const TileVector<Real>& v,
                    const TileLanes& lanes, int width) {
    with_sum_pack<Real>(width, [&]<class P>() EDDY_INLINE {
        constexpr int at_once = P::num_parts == 1 ? 2 : 1;  // sums that stay in registers
        int column = 0;
        for (; column + at_once <= sum.columns; column += at_once)
            add_thin_columns<P, at_once>(sum, column, u, v, lanes);
        if (column < sum.columns) add_thin_columns<P, 1>(sum, column, u, v, lanes);
    });
}

}  // namespace eddy::inline v0::detail
