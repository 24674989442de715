#pragma once
// Operations on blocks of rows, as each level compiles them: products with weights, and sums over lanes. Rows that are
// narrower than a vector are single numbers: one lane is after the other.

#include "outer.hpp"

#include "row_engine.hpp"

namespace eddy::inline v0::detail {

/// Some rows of a product of one lane, whose numbers lie `step` apart: sums that do not wait for each other.
template <int rows, class Real>
void multiply_numbers(const TileMatrix<Real>& matrix, int row, const Real* x, Real* to, int step) {
    Real total[rows];
    const Real* weights = matrix.data + row * matrix.row_stride;
    static_for<0, rows>([&]<int r>() EDDY_INLINE {
        total[r] = matrix.bias ? matrix.bias[row + r] : weights[r * matrix.row_stride] * x[0];
    });
    for (int c = matrix.bias ? 0 : 1; c < matrix.columns; ++c) {
        const Real* const column = weights + c * matrix.column_stride;
        const Real of_x = x[std::ptrdiff_t{c} * step];
        static_for<0, rows>([&]<int r>() EDDY_INLINE {
            total[r] = mul_add(column[r * matrix.row_stride], of_x, total[r]);
        });
    }
    for (int r = 0; r < rows; ++r) to[std::ptrdiff_t{row + r} * step] = total[r];
}
template <class Real>
void multiply_rows(const Real* data, int row_step, int column_step, int rows, int columns,
                   const Real* bias, const Real* x, Real* to, int width) {
    const TileMatrix<Real> matrix{data, row_step, column_step, rows, columns, bias};
    if (width % TilePack<Real>::size == 0) return multiply<Real>(matrix, x, to, width);
    for (int lane = 0; lane < width; ++lane) {
        int r = 0;
        for (; r + 8 <= rows; r += 8) multiply_numbers<8>(matrix, r, x + lane, to + lane, width);
        for (; r < rows; ++r) multiply_numbers<1>(matrix, r, x + lane, to + lane, width);
    }
}
template <class Real>
void add_outer_rows(Real* sum, int rows, int columns, const Real* u, const Real* v, int width,
                    const void* summed, Real* room) {
    const auto* const of = static_cast<const SummedLanes*>(summed);
    using P = TilePack<Real>;
    const bool is_thin = is_outer_thin(rows) || is_outer_thin(columns);
    if (width % P::size == 0 || (width == 1 && !is_thin)) {
        OuterSums<Real> sums(room, outer_depth(of->num_evaluations, width));
        sums.begin(of->evaluation, of->num_evaluations,
                   {of->lane, of->count, width > 1 && of->count == width});
        return sums.add({sum, columns, 1, rows, columns}, {u, width, false}, {v, width, false});
    }
    const int* const lanes = of->lane;
    const int count = of->count;
    for (int r = 0; r < rows && count > 0; ++r, u += width, sum += columns) {
        int c = 0;
        for (; width == 1 && c + P::size <= columns; c += P::size)
            mul_add(P(u[0]), P::load(v + c), P::load(sum + c)).store(sum + c);
        for (; c < columns; ++c)
            for (int k = 0; k < count; ++k)
                sum[c] = mul_add(u[lanes[k]], v[std::ptrdiff_t{c} * width + lanes[k]], sum[c]);
    }
}
template <class Real>
void add_lanes_of_rows(Real* sum, int size, const Real* x, int width, const int* lanes, int count) {
    if (width % TilePack<Real>::size == 0)
        return add_over_lanes<Real>(sum, size, {x, width, false}, {lanes, count, count == width});
    for (int c = 0; c < size; ++c)
        for (int k = 0; k < count; ++k) sum[c] += x[std::ptrdiff_t{c} * width + lanes[k]];
}
template <class Real>
const RowBlockKernels<Real>* row_block_kernels() {
    static const RowBlockKernels<Real> kernels{multiply_rows<Real>, add_outer_rows<Real>,
                                               add_lanes_of_rows<Real>};
    return &kernels;
}

}  // namespace eddy::inline v0::detail
