#pragma once
// Taking the exponent out of a number, so that what follows can be computed in single precision
// whatever the range of the number: the same text for a float or a double, for each lane of a pack
// and for a CUDA thread. Only integer arithmetic on the bits, and products with powers of two.
// Test: tests/steppers/fast_log2.cpp, tests/steppers/squared_ratios.cpp

#include <cstdint>
#include <eddy/core/bits.hpp>
#include <eddy/core/math.hpp>
#include <eddy/core/numeric.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// How a floating-point type keeps its exponent.
template <class Scalar>
struct ExponentField {
    using Bits = decltype(bits(Scalar()));
    static constexpr int shift = std::numeric_limits<Scalar>::digits - 1;
    static constexpr int bias = std::numeric_limits<Scalar>::max_exponent - 1;
    static constexpr Bits mask = Bits(2 * bias + 1) << shift;
};

/// The power of two whose product with x, positive and normal, lies in [2, 4). It is never
/// subnormal. Zero for infinity and NaN, so that their products are NaN.
template <class Real>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Real binade_scale(const Real& x) {
    using Field = ExponentField<ScalarOf<Real>>;
    using Integer = decltype(bits(x));
    return from_bits(Integer(Field::mask) - (bits(x) & Integer(Field::mask)));
}

/// k of a power of two 2^k, as a Real.
template <class Real>
[[nodiscard]] EDDY_INLINE EDDY_HD inline Real exponent_of_power(const Real& power) {
    using Scalar = ScalarOf<Real>;
    using Field = ExponentField<Scalar>;
    using Integer = decltype(bits(power));
    // From this number on the lowest bits count ones.
    constexpr Scalar integer = Scalar(typename Field::Bits(1) << Field::shift);
    return from_bits((bits(power) >> Field::shift) | Integer(bits(integer))) -
           Real(integer + Scalar(Field::bias));
}

}  // namespace eddy::inline v0::detail
