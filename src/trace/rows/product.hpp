#pragma once
// The product of one matrix of weights with the vectors of all lanes of a tile: to = W x (+ b). Some
// rows of W times some vectors of lanes are accumulated in registers; each number of x that is loaded
// serves all of these rows, each weight all of these vectors. Every sum runs over the columns in their
// order, each product contracted into it, so that a lane has the bits that it has on its own.
// Goto & van de Geijn 2008, ACM Trans. Math. Softw. 34(3), doi:10.1145/1356052.1356053, on the kernel;
// a tile is in the first-level cache already, so nothing is packed.
// Test: tests/core/tile_outer.cpp

#include <eddy/core/static_for.hpp>
#include "tile.hpp"

namespace eddy::inline v0::detail {

/// W as it lies in memory: its transpose has the strides swapped.
template <class Real>
struct TileMatrix {
    const Real* data;
    std::ptrdiff_t row_stride, column_stride;
    int rows, columns;
    const Real* bias = nullptr;  // (row); null: none
};

/// Rows of a panel. Eight rows of two vectors are sixteen sums: they hide the latency of two units, and
/// leave room for what is multiplied. Four of four vectors were slower by 40 % with g++, which then
/// loads x anew for each row.
inline constexpr int tile_panel_rows = simd::native_bytes == 64 ? 8 : 4;

/// Rows [row, row + rows) times the lanes of `vectors` vectors.
template <int rows, int vectors, class Real>
EDDY_INLINE inline void multiply_panel(const TileMatrix<Real>& matrix, int row, const Real* x,
                                       Real* to, int width) {
    using P = TilePack<Real>;
    constexpr int of_vector = native_lanes<Real>;
    P sum[rows][vectors];
    const Real* weights = matrix.data + row * matrix.row_stride;
    const auto add_column = [&]<bool is_first>() EDDY_INLINE {
        P of_x[vectors];
        static_for<0, vectors>([&]<int v>() EDDY_INLINE { of_x[v] = P::load(x + v * of_vector); });
        static_for<0, rows>([&]<int r>() EDDY_INLINE {
            const P weight(weights[r * matrix.row_stride]);
            static_for<0, vectors>([&]<int v>() EDDY_INLINE {
                sum[r][v] = is_first ? weight * of_x[v] : mul_add(weight, of_x[v], sum[r][v]);
            });
        });
        x += width;
        weights += matrix.column_stride;
    };
    int column = 0;
    if (matrix.bias) {
        static_for<0, rows>([&]<int r>() EDDY_INLINE {
            static_for<0, vectors>([&]<int v>()
                                       EDDY_INLINE { sum[r][v] = P(matrix.bias[row + r]); });
        });
    } else {
        add_column.template operator()<true>();
        ++column;
    }
    for (; column < matrix.columns; ++column) add_column.template operator()<false>();
    static_for<0, rows>([&]<int r>() EDDY_INLINE {
        static_for<0, vectors>([&]<int v>() EDDY_INLINE {
            sum[r][v].store(to + static_cast<std::ptrdiff_t>(row + r) * width + v * of_vector);
        });
    });
}

/// All rows times some vectors of lanes.
template <int vectors, class Real>
[[gnu::noinline]] void multiply_lanes(const TileMatrix<Real>& matrix, const Real* x, Real* to,
                                      int width) {
    constexpr int at_once = tile_panel_rows;
    int row = 0;
    for (; row + at_once <= matrix.rows; row += at_once)
        multiply_panel<at_once, vectors>(matrix, row, x, to, width);
    static_for<0, at_once - 1>([&]<int fewer>() {
        constexpr int rows = at_once - 1 - fewer;
        if (matrix.rows - row == rows) multiply_panel<rows, vectors>(matrix, row, x, to, width);
    });
}

/// Calls part<count>(first lane) for panels of one or two vectors that cover a row, from a lane on.
template <class Real, class Part>
EDDY_INLINE inline void for_panels(int width, Part&& part, int lane = 0) {
    constexpr int of_vector = native_lanes<Real>;
    for (; lane + 2 * of_vector <= width; lane += 2 * of_vector) part.template operator()<2>(lane);
    if (lane < width) part.template operator()<1>(lane);
}

/// Two rows, as states of two components want, times four vectors: of two their sums would wait.
template <class Real>
[[gnu::noinline]] void multiply_two_rows(const TileMatrix<Real>& matrix, const Real* x, Real* to,
                                         int width) {
    constexpr int vectors = 4, lanes = vectors * native_lanes<Real>;
    int lane = 0;
    for (; lane + lanes <= width; lane += lanes)
        multiply_panel<2, vectors>(matrix, 0, x + lane, to + lane, width);
    for_panels<Real>(
        width,
        [&]<int fewer>(int first) {
            multiply_panel<2, fewer>(matrix, 0, x + first, to + first, width);
        },
        lane);
}

/// to = W x (+ b): blocks of W's rows and of its columns.
template <class Real>
inline void multiply(const TileMatrix<Real>& matrix, const Real* x, Real* to, int width) {
    if (matrix.rows == 2) return multiply_two_rows(matrix, x, to, width);
    for_panels<Real>(width, [&]<int vectors>(int lane) {
        multiply_lanes<vectors>(matrix, x + lane, to + lane, width);
    });
}

}  // namespace eddy::inline v0::detail
