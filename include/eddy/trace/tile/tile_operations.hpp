#pragma once
// What the operations of a program do to the rows of a tile. Each is compiled once for all sizes: a loop
// over components, and in it one over the vectors of a row. They compute what evaluate.hpp computes for
// a single lane, in the same order.

#include <eddy/core/tile/product.hpp>
#include <eddy/trace/apply.hpp>

namespace eddy::inline v0::detail {

/// The rows of an operand. Numbers that all lanes share are spread over a row of their own first.
template <class Real>
class TileRows {
  public:
    TileRows(const TileVector<Real>& x, int width) : x_(x), width_(width) {
        if (x.is_uniform && x.stride == 0) spread(0);
    }
    [[nodiscard]] const Real* operator()(int c) {
        if (!x_.is_uniform) return x_.data + c * x_.stride;
        if (x_.stride != 0) spread(c);
        return row_;
    }

  private:
    void spread(int c) {
        const TilePack<Real> value(x_.data[c * x_.stride]);
        for_vectors<Real>(width_, [&](int lane) { value.store(row_ + lane); });
    }

    TileVector<Real> x_;
    int width_;
    alignas(64) Real row_[most_tile_lanes<Real>];
};

/// Does operand k of the operation hold masks, which a tile keeps as ones and zeros?
[[nodiscard]] constexpr bool reads_mask(Op op, int k) {
    return op == Op::mask_and || op == Op::mask_or || op == Op::mask_not ||
           (op == Op::select && k == 0);
}
template <Op op, int k, class P>
[[nodiscard, gnu::always_inline]] inline auto tile_operand(const P& x) {
    if constexpr (reads_mask(op, k))
        return x != P(0);
    else
        return x;
}

/// An elementwise operation, component by component.
template <Op op, int index, class Real, class... Operands>
[[gnu::noinline]] void apply_to_rows(Real* to, int size, int width, const Operands&... operands) {
    using P = TilePack<Real>;
    const auto run = [&]<int... k>(std::integer_sequence<int, k...>, auto&&... rows)
        __attribute__((always_inline)) {
        for (int c = 0; c < size; ++c) {
            const auto of_component = [&](const auto*... row) __attribute__((always_inline)) {
                for_vectors<Real>(
                    width, [&](int lane) __attribute__((always_inline)) {
                        const auto value =
                            apply<op, index>(tile_operand<op, k>(P::load(row + lane))...);
                        if constexpr (is_mask(op))
                            select(value, P(1), P(0)).store(to + lane);
                        else
                            value.store(to + lane);
                    });
            };
            of_component(rows(c)...);
            to += width;
        }
    };
    run(std::make_integer_sequence<int, static_cast<int>(sizeof...(operands))>{},
        TileRows<Real>(operands, width)...);
}

template <class Real>
[[gnu::noinline]] void copy_rows(Real* to, int size, int width, const TileVector<Real>& x) {
    fill_rows(to, size, width, [&](int c, int lane) { return x.load(c, lane); });
}

/// Σ a_c b_c, or Σ a_c where b is null.
template <class Real>
[[gnu::noinline]] void sum_of_rows(Real* to, int size, int width, const TileVector<Real>& a,
                                   const TileVector<Real>* b) {
    using P = TilePack<Real>;
    for_vectors<Real>(width, [&](int lane) {
        P total = b ? a.load(0, lane) * b->load(0, lane) : a.load(0, lane);
        for (int c = 1; c < size; ++c)
            total = b ? mul_add(a.load(c, lane), b->load(c, lane), total) : total + a.load(c, lane);
        total.store(to + lane);
    });
}

/// Products with a matrix that differs from lane to lane, and with vectors that all lanes share.
template <class Real>
[[gnu::noinline]] void multiply_each(Real* to, int width, const TileVector<Real>& matrix, int rows,
                                     int columns, int row_step, int column_step,
                                     const TileVector<Real>& x, const TileVector<Real>* bias) {
    using P = TilePack<Real>;
    fill_rows(to, rows, width, [&](int r, int lane) {
        const auto weight = [&](int c) {
            return matrix.load(r * row_step + c * column_step, lane);
        };
        P total = bias ? mul_add(weight(0), x.load(0, lane), bias->load(r, lane))
                       : weight(0) * x.load(0, lane);
        for (int c = 1; c < columns; ++c) total = mul_add(weight(c), x.load(c, lane), total);
        return total;
    });
}

/// u vᵀ of each lane, row-major.
template <class Real>
[[gnu::noinline]] void outer_of_rows(Real* to, int rows, int columns, int width,
                                     const TileVector<Real>& u, const TileVector<Real>& v) {
    fill_rows(to, rows * columns, width, [&](int flat, int lane) {
        return u.load(flat / columns, lane) * v.load(flat % columns, lane);
    });
}

}  // namespace eddy::inline v0::detail
