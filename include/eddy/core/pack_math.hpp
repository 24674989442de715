#pragma once
// The functions of packs, found by argument-dependent lookup: write `using std::sin; sin(x)` or `sin(x)`.
// Those of core/special.hpp have their errors there. Each elementary one is within 2 ulp of the exact value everywhere, subnormal and extreme
// arguments included, with the special values of <cmath>; docs/design/packs.md has the measured
// figures. Invariant: a lane's bits depend on that lane's argument and the target's instructions
// alone. The kernels are compiled once, for single native vectors; wider packs call them vector by
// vector.
// Test: tests/core/pack_math.cpp

#include <eddy/core/math.hpp>
#include <eddy/core/simd/erf.hpp>
#include <eddy/core/simd/exp.hpp>
#include <eddy/core/simd/inverse_trig.hpp>
#include <eddy/core/simd/log.hpp>
#include <eddy/core/simd/power.hpp>
#include <eddy/core/simd/trig.hpp>
#include <eddy/core/special.hpp>

namespace eddy::inline v0 {
namespace simd {

/// The pack of one native vector among those of a pack.
template <class Real, int lanes>
using Single = Pack<Real, std::min(lanes, Pack<Real, lanes>::part_lanes)>;

/// One kernel on one native vector per argument. Here the compiler may leave a call: vectors travel
/// in registers, and the kernel's text is there once for packs of all widths.
template <auto kernel, class OnePart, class... Parts>
inline typename OnePart::Part evaluate(Parts... parts) {
    return kernel(OnePart::from_part(parts)...).part[0];
}

/// `kernel` on the packs of one native vector that make up `arguments`.
template <auto kernel, class Real, int lanes, class... Others>
EDDY_INLINE inline Pack<Real, lanes> by_parts(const Pack<Real, lanes>& x, const Others&... others) {
    return map_parts<Pack<Real, lanes>>(
        [](auto... parts) { return evaluate<kernel, Single<Real, lanes>>(parts...); }, x,
        others...);
}

}  // namespace simd

template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> exp(const Pack<Real, lanes>& x) {
    return simd::by_parts<simd::exp_kernel<simd::Single<Real, lanes>>>(x);
}
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> expm1(const Pack<Real, lanes>& x) {
    return simd::by_parts<simd::expm1_kernel<simd::Single<Real, lanes>>>(x);
}
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> log(const Pack<Real, lanes>& x) {
    return simd::by_parts<simd::log_kernel<simd::Single<Real, lanes>>>(x);
}
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> log1p(const Pack<Real, lanes>& x) {
    return simd::by_parts<simd::log1p_kernel<simd::Single<Real, lanes>>>(x);
}
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> sin(const Pack<Real, lanes>& x) {
    return simd::by_parts<simd::sin_kernel<simd::Single<Real, lanes>>>(x);
}
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> cos(const Pack<Real, lanes>& x) {
    return simd::by_parts<simd::cos_kernel<simd::Single<Real, lanes>>>(x);
}
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> tan(const Pack<Real, lanes>& x) {
    return simd::by_parts<simd::tan_kernel<simd::Single<Real, lanes>>>(x);
}
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> asin(const Pack<Real, lanes>& x) {
    return simd::by_parts<simd::asin_kernel<simd::Single<Real, lanes>>>(x);
}
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> acos(const Pack<Real, lanes>& x) {
    return simd::by_parts<simd::acos_kernel<simd::Single<Real, lanes>>>(x);
}
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> atan(const Pack<Real, lanes>& x) {
    return simd::by_parts<simd::atan_kernel<simd::Single<Real, lanes>>>(x);
}
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> sinh(const Pack<Real, lanes>& x) {
    return simd::by_parts<simd::sinh_kernel<simd::Single<Real, lanes>>>(x);
}
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> cosh(const Pack<Real, lanes>& x) {
    return simd::by_parts<simd::cosh_kernel<simd::Single<Real, lanes>>>(x);
}
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> tanh(const Pack<Real, lanes>& x) {
    return simd::by_parts<simd::tanh_kernel<simd::Single<Real, lanes>>>(x);
}
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> erf(const Pack<Real, lanes>& x) {
    return simd::by_parts<simd::erf_kernel<simd::Single<Real, lanes>>>(x);
}
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> cbrt(const Pack<Real, lanes>& x) {
    return simd::by_parts<simd::cbrt_kernel<simd::Single<Real, lanes>>>(x);
}
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> lgamma(const Pack<Real, lanes>& x) {
    return simd::by_parts<detail::special::lgamma_of<simd::Single<Real, lanes>>>(x);
}
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> digamma(const Pack<Real, lanes>& x) {
    return simd::by_parts<detail::special::digamma_of<simd::Single<Real, lanes>>>(x);
}
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> erfc(const Pack<Real, lanes>& x) {
    return simd::by_parts<detail::special::erfc_of<simd::Single<Real, lanes>>>(x);
}
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> erfcx(const Pack<Real, lanes>& x) {
    return simd::by_parts<detail::special::erfcx_of<simd::Single<Real, lanes>>>(x);
}
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> log_erfc(const Pack<Real, lanes>& x) {
    return simd::by_parts<detail::special::log_erfc_of<simd::Single<Real, lanes>>>(x);
}
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> polygamma(int n, const Pack<Real, lanes>& x) {
    using One = simd::Single<Real, lanes>;
    return simd::map_parts<Pack<Real, lanes>>(
        [n](auto part) { return detail::special::polygamma_of(n, One::from_part(part)).part[0]; },
        x);
}
/// The angle of the point (x, y), in (−π, π].
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> atan2(const Pack<Real, lanes>& y, const Pack<Real, lanes>& x) {
    return simd::by_parts<simd::atan2_kernel<simd::Single<Real, lanes>>>(y, x);
}
/// x to a real power.
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> pow(const Pack<Real, lanes>& x, const Pack<Real, lanes>& y) {
    return simd::by_parts<simd::pow_kernel<simd::Single<Real, lanes>>>(x, y);
}
template <std::floating_point Real, int lanes, std::floating_point Exponent>
[[nodiscard]] Pack<Real, lanes> pow(const Pack<Real, lanes>& x, Exponent y) {
    return pow(x, Pack<Real, lanes>(static_cast<Real>(y)));
}
/// x to an integer power, by repeated squaring as for scalars.
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> pow(const Pack<Real, lanes>& x, std::same_as<int> auto exponent) {
    return power_by_squaring(x, exponent);
}
/// −1, 0 or 1 with the sign of x; ±0 and NaN are returned as they are.
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> sign(const Pack<Real, lanes>& x) {
    return select(abs(x) > Pack<Real, lanes>(0), copysign(Pack<Real, lanes>(1), x), x);
}
/// min(max(x, low), high); NaN stays NaN.
template <std::floating_point Real, int lanes>
[[nodiscard]] Pack<Real, lanes> clamp(const Pack<Real, lanes>& x,
                                      const std::type_identity_t<Pack<Real, lanes>>& low,
                                      const std::type_identity_t<Pack<Real, lanes>>& high) {
    return min(max(x, low), high);
}

}  // namespace eddy::inline v0
