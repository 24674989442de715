#pragma once
// The functions that the same equation uses on plain numbers, packs and traced values: here for
// float and double, on host and device. Where the standard library has the function, this is it;
// packs are in core/pack_math.hpp.
// Test: tests/core/math.cpp

#include <cmath>
#include <concepts>
#include <eddy/core/host_device.hpp>
#include <eddy/core/simd/has_fma.hpp>
#include <type_traits>

// With -ffast-math a compiler takes NaN for impossible: bad input would be taken, and failed lanes would
// pass for good ones. Where it may reorder sums as well, nothing holds to the bit.
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
static_assert(
    false,
    "eddy: compiled with -ffast-math or -ffinite-math-only, under which NaN and failed "
    "trajectories go unnoticed; compile the sources that include eddy with -fno-fast-math");
#endif

namespace eddy::inline v0 {

template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real exp(Real x) {
    return std::exp(x);
}
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real expm1(Real x) {
    return std::expm1(x);
}
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real log(Real x) {
    return std::log(x);
}
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real log1p(Real x) {
    return std::log1p(x);
}
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real sin(Real x) {
    return std::sin(x);
}
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real cos(Real x) {
    return std::cos(x);
}
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real tan(Real x) {
    return std::tan(x);
}
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real asin(Real x) {
    return std::asin(x);
}
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real acos(Real x) {
    return std::acos(x);
}
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real atan(Real x) {
    return std::atan(x);
}
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real sinh(Real x) {
    return std::sinh(x);
}
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real cosh(Real x) {
    return std::cosh(x);
}
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real tanh(Real x) {
    return std::tanh(x);
}
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real erf(Real x) {
    return std::erf(x);
}
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real cbrt(Real x) {
    return std::cbrt(x);
}
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real sqrt(Real x) {
    return std::sqrt(x);
}
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real abs(Real x) {
    return std::abs(x);
}
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real floor(Real x) {
    return std::floor(x);
}
/// The angle of the point (x, y), in (−π, π].
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real atan2(Real y, std::type_identity_t<Real> x) {
    return std::atan2(y, x);
}
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real copysign(Real magnitude, std::type_identity_t<Real> sign) {
    return std::copysign(magnitude, sign);
}
/// a·b + c rounded once: a slow library call on hosts without the instruction.
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real fma(Real a, std::type_identity_t<Real> b,
                                      std::type_identity_t<Real> c) {
    return std::fma(a, b, c);
}

/// True where `fma` is one instruction: on the device, and on hosts compiled for it.
inline constexpr bool fma_is_fast = compiling_for_device || simd::has_fma;

/// a·b + c as the target does it fastest: fused where it has the instruction, else rounded twice.
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real mul_add(Real a, std::type_identity_t<Real> b,
                                          std::type_identity_t<Real> c) {
    if constexpr (fma_is_fast)
        return std::fma(a, b, c);
    else
        return a * b + c;
}

/// `b < a ? b : a`: the first argument where either is NaN or both are zeros. Of whole numbers as well.
template <class Real>
requires std::is_arithmetic_v<Real>
[[nodiscard]] EDDY_HD constexpr Real min(Real a, std::type_identity_t<Real> b) {
    return b < a ? b : a;
}
/// `a < b ? b : a`: the first argument where either is NaN or both are zeros. Of whole numbers as well.
template <class Real>
requires std::is_arithmetic_v<Real>
[[nodiscard]] EDDY_HD constexpr Real max(Real a, std::type_identity_t<Real> b) {
    return a < b ? b : a;
}
/// min(max(x, low), high); NaN stays NaN.
template <std::floating_point Real>
[[nodiscard]] EDDY_HD constexpr Real clamp(Real x, std::type_identity_t<Real> low,
                                           std::type_identity_t<Real> high) {
    return min(max(x, low), high);
}
/// −1, 0 or 1 with the sign of x; ±0 and NaN are returned as they are.
template <std::floating_point Real>
[[nodiscard]] EDDY_HD constexpr Real sign(Real x) {
    return x > 0 ? Real(1) : x < 0 ? Real(-1) : x;
}
/// The same for a scalar condition.
template <std::floating_point Real>
[[nodiscard]] EDDY_HD constexpr Real select(bool condition, Real if_true,
                                            std::type_identity_t<Real> if_false) {
    return condition ? if_true : if_false;
}

/// x^exponent by repeated squaring, its reciprocal for negative exponents: at most 2·log2|exponent|
/// products, the same ones for every type of number. x^0 is 1, also for NaN.
template <class Number>
[[nodiscard]] EDDY_HD constexpr Number power_by_squaring(Number x, int exponent) {
    unsigned left =
        exponent < 0 ? 0u - static_cast<unsigned>(exponent) : static_cast<unsigned>(exponent);
    Number result = Number(1);
    for (; left != 0; left >>= 1) {
        if ((left & 1u) != 0) result = result * x;
        if (left > 1) x = x * x;
    }
    return exponent < 0 ? Number(1) / result : result;
}

/// x to a real power.
template <std::floating_point Real, std::floating_point Exponent>
[[nodiscard]] EDDY_HD inline Real pow(Real x, Exponent y) {
    return std::pow(x, static_cast<Real>(y));
}
/// x to an integer power, by repeated squaring.
template <std::floating_point Real>
[[nodiscard]] EDDY_HD constexpr Real pow(Real x, std::same_as<int> auto exponent) {
    return power_by_squaring(x, exponent);
}

}  // namespace eddy::inline v0
