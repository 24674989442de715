#pragma once
// One elementwise operation of a program on vectors of lanes, which keep masks as ones and zeros. It computes what
// trace/evaluate.hpp computes for a single lane.

#include <eddy/core/pack_math.hpp>
#include <eddy/trace/apply.hpp>
#include <utility>

namespace eddy::inline v0::detail {

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

}  // namespace eddy::inline v0::detail
