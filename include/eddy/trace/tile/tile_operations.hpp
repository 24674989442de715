#pragma once
// What the operations of a program do to the rows of a tile. Each is compiled once for all sizes: a loop
// over components, and in it one over the vectors of a row. They compute what evaluate.hpp computes for
// a single lane, in the same order.
// Test: tests/trace/tile_fusion.cpp

#include <eddy/core/tile/product.hpp>
#include <eddy/trace/apply.hpp>
#include <utility>

namespace eddy::inline v0::detail {

/// The rows of an operand, one after another. A number that all lanes share is spread over one vector,
/// which stands for the row: lanes are masked to its first.
template <class Real>
class TileRows {
  public:
    explicit TileRows(const TileVector<Real>& x)
        : x_(x), lane_mask_(x.is_uniform ? 0 : ~std::ptrdiff_t{0}) {
        if (x.is_uniform) spread();
    }
    TileRows(const TileRows&) = delete;  // it may refer to itself
    TileRows& operator=(const TileRows&) = delete;

    /// Do all components lie one after the other, as one long row?
    [[nodiscard]] bool is_one_row(int width) const {
        return x_.is_uniform ? x_.stride == 0 : x_.stride == width;
    }
    [[nodiscard]] const Real* row() const { return x_.is_uniform ? spread_ : x_.data; }
    [[nodiscard]] std::ptrdiff_t lane_mask() const { return lane_mask_; }
    void next_row() {
        x_.data += x_.stride;
        if (x_.is_uniform && x_.stride != 0) spread();
    }

  private:
    void spread() { TilePack<Real>(*x_.data).store(spread_); }

    TileVector<Real> x_;
    std::ptrdiff_t lane_mask_;
    alignas(64) Real spread_[native_lanes<Real>];
};

/// Does operand k of the operation hold masks, which a tile keeps as ones and zeros?
[[nodiscard]] constexpr bool reads_mask(Op op, int k) {
    return op == Op::mask_and || op == Op::mask_or || op == Op::mask_not ||
           (op == Op::select && k == 0);
}
template <Op op, int k, class P>
[[nodiscard]] EDDY_INLINE inline auto tile_operand(const P& x) {
    if constexpr (reads_mask(op, k))
        return x != P(0);
    else
        return x;
}

/// The value of an operation. tanh, which most networks are made of, is no call here: its coefficients stay in
/// registers from vector to vector, in 0.85 of the time.
template <Op op, int index, class... Operands>
[[nodiscard]] EDDY_INLINE inline auto tile_value(const Operands&... operands) {
    if constexpr (op == Op::tanh)
        return simd::tanh_kernel(operands...);
    else
        return eddy::apply<op, index>(operands...);
}

/// One elementwise operation on vectors of lanes.
template <Op op, int index>
struct OneOperation {
    template <class P, class... Others>
    [[nodiscard]] EDDY_INLINE static P apply(const P& x, const Others&... others) {
        return [&]<int... k>(std::integer_sequence<int, k...>, const auto&... operands)
            EDDY_INLINE {
            const auto value = tile_value<op, index>(tile_operand<op, k>(operands)...);
            if constexpr (is_mask(op))
                return select(value, P(1), P(0));
            else
                return value;
        }
        (std::make_integer_sequence<int, 1 + static_cast<int>(sizeof...(others))>{}, x, others...);
    }
};

/// An elementwise operation, or a chain of them, component by component: Operation::apply(vectors...).
template <class Operation, class Real, class... Operands>
[[gnu::noinline]] void apply_to_rows(Real* to, int size, int width, const Operands&... operands) {
    using P = TilePack<Real>;
    const auto run = [&](auto&&... rows) EDDY_INLINE {
        int length = width;
        if ((rows.is_one_row(width) && ...)) {
            length = size * width;
            size = 1;
        }
        for (int c = 0; c < size; ++c) {
            const auto of_row = [&](auto... row) EDDY_INLINE {
                for (std::ptrdiff_t lane = 0; lane < length; lane += P::size)
                    Operation::apply(P::load(row.first + (lane & row.second))...).store(to + lane);
            };
            of_row(std::pair(rows.row(), rows.lane_mask())...);
            to += length;
            if (c + 1 < size) (rows.next_row(), ...);
        }
    };
    run(TileRows<Real>(operands)...);
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
    // Sums wait for themselves: those of two vectors fill each other's gaps.
    for_panels<Real>(width, [&]<int vectors>(int first) EDDY_INLINE {
        P total[vectors];
        const auto add = [&]<bool is_first>(int c) EDDY_INLINE {
            static_for<0, vectors>([&]<int v>() EDDY_INLINE {
                const int lane = first + v * P::size;
                const P x = a.load(c, lane);
                if (b) {
                    const P y = b->load(c, lane);
                    total[v] = is_first ? x * y : mul_add(x, y, total[v]);
                } else {
                    total[v] = is_first ? x : total[v] + x;
                }
            });
        };
        add.template operator()<true>(0);
        for (int c = 1; c < size; ++c) add.template operator()<false>(c);
        static_for<0, vectors>([&]<int v>()
                                   EDDY_INLINE { total[v].store(to + first + v * P::size); });
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
