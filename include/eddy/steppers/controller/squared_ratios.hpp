#pragma once
// The sum of squared ratios x_i / scale_i in single precision, for operands of the whole range of
// their type, without a division or a root: the same text, and the same bits, for a plain number,
// each lane of a pack and a CUDA thread. The exponent of a scale is taken out of x and of the scale
// by integer arithmetic (binade.hpp); what is left of the scale lies in [2, 4). Up to four ratios
// are then summed over their common denominator, and one reciprocal serves them all: from an
// estimate by integer arithmetic, a step of third order (Halley) and one of second order (Newton).
// Invariant: a scale that is infinite or NaN gives NaN, whatever x; an infinite x, else, infinity.
// Test: tests/steppers/squared_ratios.cpp

#include <eddy/core/lanes.hpp>
#include <eddy/core/vec.hpp>
#include <eddy/steppers/controller/binade.hpp>

namespace eddy::inline v0 {

/// A number, and the scale that it is measured by: positive and normal, infinite, or NaN.
template <class Real>
struct Scaled {
    Real x, scale;
};

namespace detail {

/// 1/x for x in [2^−100, 2^100], to a relative error of 1.2e-7.
template <class Single>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Single fast_reciprocal(const Single& x) {
    using Integer = decltype(bits(x));
    // The bits of a float are near a multiple of its logarithm: this is off by 0.0505 at most.
    const Single estimate = from_bits(Integer(0x7ef311c3u) - bits(x));
    const Single rest = mul_add(-x, estimate, Single(1));
    const Single better = mul_add(estimate, mul_add(rest, rest, rest), estimate);
    return mul_add(better, mul_add(-x, better, Single(1)), better);
}

/// The sum over components [first, first + count).
template <int count, class Term>
[[nodiscard]] EDDY_INLINE EDDY_HD inline auto few_squared_ratios(int first, const Term& term) {
    using Real = decltype(term(0).x);
    using Single = eddy::WithElement<Real, float>;
    Single top, bottom;
    static_for<0, count>([&]<int i>() EDDY_INLINE {
        const Scaled<Real> ratio = term(first + i);
        const Real power = binade_scale(ratio.scale);
        const Single x = convert<Single>(ratio.x * power);
        const Single scale = convert<Single>(ratio.scale * power);
        const Single square = scale * scale;
        if constexpr (i == 0) {
            top = x * x;
            bottom = square;
        } else {
            top = mul_add(x * x, bottom, top * square);
            bottom = bottom * square;  // at most 16 for each component
        }
    });
    return top * fast_reciprocal(bottom);
}

}  // namespace detail

/// Σ (x_i / scale_i)² over `size` components, where term(i) gives a Scaled; in float, or packs of
/// it. The relative error is below 6e-7 where each ratio is 0 or in [1e-18, 1e16]; smaller ones may
/// count as zero, larger ones as infinite.
template <int size, class Term>
[[nodiscard]] EDDY_INLINE EDDY_HD inline auto sum_of_squared_ratios(const Term& term) {
    constexpr int few = 4, rest = size % few;
    using Single = eddy::WithElement<decltype(term(0).x), float>;
    if constexpr (size <= few) {
        return detail::few_squared_ratios<size>(0, term);
    } else {
        Single sum = detail::few_squared_ratios<few>(0, term);
        for_components<size / few - 1>([&](int i) EDDY_INLINE {
            sum = sum + detail::few_squared_ratios<few>(few * (i + 1), term);
        });
        if constexpr (rest > 0) sum = sum + detail::few_squared_ratios<rest>(size - rest, term);
        return sum;
    }
}

}  // namespace eddy::inline v0
