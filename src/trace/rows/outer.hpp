#pragma once
// The gradient of shared weights: the sum over lanes of outer products, G += Σ_lanes u vᵀ. It is a
// matrix product whose inner dimension are the lanes of some evaluations of the field, laid side by side:
// those of a single one are so few that it would take the sum from memory and back more often than it
// adds to it. Lanes are neighbours in memory for both operands: one of them is transposed, so that its
// components are. Lanes that bring nothing are left out, never multiplied by zero; the others are added
// in their order, evaluation by evaluation, so that the sum depends on nothing but these.
// Test: tests/core/tile_outer.cpp

#include "lane_sums.hpp"
#include "product.hpp"
#include "transpose.hpp"

namespace eddy::inline v0::detail {

/// Rows of a block as columns: to[lane · padded + component], for the lanes that take part, with zeros
/// up to whole vectors.
template <class Real>
[[gnu::noinline]] void transpose_rows(const TileVector<Real>& x, int size, const TileLanes& lanes,
                                      Real* to) {
    constexpr int of_vector = native_lanes<Real>;
    using P = TilePack<Real>;
    const int padded = whole_vectors<Real>(size);
    int c = 0;
    if (lanes.are_all && !x.is_uniform) {
        for (; c + of_vector <= size; c += of_vector) {
            for (int lane = 0; lane < lanes.count; lane += of_vector) {
                typename P::Part square[of_vector];
                simd::for_parts<of_vector>([&]<int i>() EDDY_INLINE {
                    square[i] = P::load(x.data + (c + i) * x.stride + lane).part[0];
                });
                simd::transpose(square);
                simd::for_parts<of_vector>([&]<int i>() EDDY_INLINE {
                    P::from_part(square[i]).store(to + (lane + i) * padded + c);
                });
            }
        }
    }
    for (; c < padded; ++c) {
        for (int k = 0; k < lanes.count; ++k) {
            const int lane = x.is_uniform ? 0 : lanes.lane[k];
            to[k * padded + c] = c < size ? x.data[c * x.stride + lane] : Real(0);
        }
    }
}

/// Rows of a block without the lanes that take no part: to[component · stride + place of the lane].
template <class Real>
[[gnu::noinline]] void gather_rows(const TileVector<Real>& x, int size, const TileLanes& lanes,
                                   Real* to, std::ptrdiff_t stride) {
    for (int c = 0; c < size; ++c) {
        Real* const row = to + c * stride;
        if (lanes.are_all)
            for_vectors<Real>(lanes.count,
                              [&](int lane) EDDY_INLINE { x.load(c, lane).store(row + lane); });
        else
            for (int k = 0; k < lanes.count; ++k)
                row[k] = x.data[c * x.stride + (x.is_uniform ? 0 : lanes.lane[k])];
    }
}

/// The two sides of the product, by inner place.
template <class Real>
struct OuterSides {
    const Real* u;  // u[row · u_stride + place]
    std::ptrdiff_t u_stride;
    const Real* v;  // v[place · v_stride + column], whole vectors
    std::ptrdiff_t v_stride;
    int num_places;
};

/// Rows [row, row + rows) of the sum, columns from `column` on: `count` of them, in `vectors` vectors.
template <int rows, int vectors, class Real>
EDDY_INLINE inline void add_outer_panel(const TileSum<Real>& sum, int row, int column, int count,
                                        const OuterSides<Real>& sides) {
    using P = TilePack<Real>;
    constexpr int of_vector = native_lanes<Real>;
    P total[rows][vectors];
    // Columns that are not neighbours, and those of a last vector that is not full, one by one.
    const bool is_plain = sum.column_stride == 1 && count == vectors * of_vector;
    const auto visit = [&](auto&& visit_vector) EDDY_INLINE {
        static_for<0, rows>([&]<int r>() EDDY_INLINE {
            static_for<0, vectors>([&]<int k>() EDDY_INLINE {
                const int first = k * of_vector;
                visit_vector(
                    sum.data + (row + r) * sum.row_stride + (column + first) * sum.column_stride,
                    count - first < of_vector ? count - first : of_vector, total[r][k]);
            });
        });
    };
    if (is_plain)
        visit([](const Real* at, int, P& part) EDDY_INLINE { part = P::load(at); });
    else
        visit([&](const Real* at, int size, P& part)
                  EDDY_INLINE { part = P::load_strided(at, sum.column_stride, size); });
    const Real* of_rows = sides.u + row * sides.u_stride;
    const Real* of_columns = sides.v + column;
    for (int place = 0; place < sides.num_places; ++place) {
        P of_v[vectors];
        static_for<0, vectors>([&]<int j>()
                                   EDDY_INLINE { of_v[j] = P::load(of_columns + j * of_vector); });
        static_for<0, rows>([&]<int r>() EDDY_INLINE {
            const P of_u(of_rows[r * sides.u_stride]);
            static_for<0, vectors>(
                [&]<int j>() EDDY_INLINE { total[r][j] = mul_add(of_u, of_v[j], total[r][j]); });
        });
        ++of_rows;
        of_columns += sides.v_stride;
    }
    if (is_plain)
        visit([](Real* at, int, P& part) EDDY_INLINE { part.store(at); });
    else
        visit([&](Real* at, int size, P& part)
                  EDDY_INLINE { part.store_strided(at, sum.column_stride, size); });
}

/// All rows, some vectors of columns.
template <int vectors, class Real>
[[gnu::noinline]] void add_outer_columns(const TileSum<Real>& sum, int column, int count,
                                         const OuterSides<Real>& sides) {
    constexpr int at_once = tile_panel_rows;
    int row = 0;
    for (; row + at_once <= sum.rows; row += at_once)
        add_outer_panel<at_once, vectors>(sum, row, column, count, sides);
    for (; row + 2 <= sum.rows; row += 2)  // as states of two components want: one would wait
        add_outer_panel<2, vectors>(sum, row, column, count, sides);
    for (; row < sum.rows; ++row) add_outer_panel<1, vectors>(sum, row, column, count, sides);
}

/// Vectors have rows if there are few columns: a last vector that is hardly full costs as much as a full one.
template <class Real>
[[nodiscard]] constexpr bool is_outer_swapped(int rows, int columns) {
    return columns < rows && columns < native_lanes<Real>;
}
/// So few rows or columns that a transposition would take longer than adding over the lanes of each evaluation.
[[nodiscard]] constexpr bool is_outer_thin(int size) { return size <= 4; }
/// Numbers, for each lane of each evaluation, that the two sides of an outer product take.
template <class Real>
[[nodiscard]] constexpr int rows_of_outer(int rows, int columns) {
    if (is_outer_thin(rows) || is_outer_thin(columns)) return 0;
    return is_outer_swapped<Real>(rows, columns) ? columns + whole_vectors<Real>(rows)
                                                 : rows + whole_vectors<Real>(columns);
}

/// The sums of the outer products of a field, for groups of its evaluations: those of each come in the same order, and the last of a
/// group completes them.
template <class Real>
class OuterSums {
  public:
    OuterSums() = default;
    /// `room`: rows_of_outer of all of them, for each lane of `depth` evaluations.
    OuterSums(Real* room, int depth) : room_(room), depth_(depth) {}

    /// Evaluation `index` of `count`, one after another.
    void begin(int index, int count, const TileLanes& lanes) {
        place_ = index % depth_;
        is_last_ = place_ + 1 == depth_ || index + 1 == count;
        lanes_ = lanes;
        next_ = room_;
    }
    /// sum(r, c) += Σ_lanes u_r v_c, at the end of the group at the latest: u and v are rows of lanes.
    void add(TileSum<Real> sum, TileVector<Real> u, TileVector<Real> v) {
        const auto width = static_cast<int>(u.is_uniform ? v.stride : u.stride);
        if (is_outer_thin(sum.columns)) return add_thin_outer(sum, u, v, lanes_, width);
        if (is_outer_thin(sum.rows)) return add_thin_outer(transposed(sum), v, u, lanes_, width);
        if (is_outer_swapped<Real>(sum.rows, sum.columns)) {
            std::swap(u, v);
            sum = transposed(sum);
        }
        const int num_places = (place_ + 1) * lanes_.count, first = place_ * lanes_.count;
        const std::ptrdiff_t u_stride = whole_vectors<Real>(depth_ * lanes_.count);
        const int v_stride = whole_vectors<Real>(sum.columns);
        Real* const of_u = next_;
        Real* const of_v = of_u + sum.rows * u_stride;
        next_ = of_v + u_stride * v_stride;
        const bool is_in_place = depth_ == 1 && lanes_.are_all && !u.is_uniform;
        if (!is_in_place) gather_rows(u, sum.rows, lanes_, of_u + first, u_stride);
        transpose_rows(v, sum.columns, lanes_, of_v + std::ptrdiff_t{first} * v_stride);
        if (!is_last_) return;
        const OuterSides<Real> sides{is_in_place ? u.data : of_u, is_in_place ? u.stride : u_stride,
                                     of_v, v_stride, num_places};
        for_panels<Real>(v_stride, [&]<int vectors>(int column) {
            const int end = column + vectors * native_lanes<Real>;
            add_outer_columns<vectors>(sum, column,
                                       (end < sum.columns ? end : sum.columns) - column, sides);
        });
    }

  private:
    Real* room_ = nullptr;
    int depth_ = 1, place_ = 0;
    bool is_last_ = true;
    TileLanes lanes_;
    Real* next_ = nullptr;
};

}  // namespace eddy::inline v0::detail
