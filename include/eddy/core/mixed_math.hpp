#pragma once
// Plain numbers of different types: what a traced function takes beside a traced value (`max(0,
// x)`, `pow(2, x)`), the plain function takes beside a float or a double. An integer becomes a
// number of the type of the others. core/math.hpp serves the calls whose first argument is a
// floating-point number.
// Test: tests/core/vec_math.cpp

#include <eddy/core/math.hpp>

namespace eddy::inline v0 {
namespace detail {

/// An integer first and at least one floating-point number after it.
template <class First, class... Rest>
concept IntegerFirst = std::integral<First> &&(std::is_arithmetic_v<Rest>&&...) &&
                       (std::floating_point<Rest> || ...);

}  // namespace detail

template <class A, class B>
requires detail::IntegerFirst<A, B>
[[nodiscard]] EDDY_HD constexpr B min(A a, B b) { return min(static_cast<B>(a), b); }
template <class A, class B>
requires detail::IntegerFirst<A, B>
[[nodiscard]] EDDY_HD constexpr B max(A a, B b) { return max(static_cast<B>(a), b); }
template <class Y, class X>
requires detail::IntegerFirst<Y, X>
[[nodiscard]] EDDY_HD inline X atan2(Y y, X x) { return atan2(static_cast<X>(y), x); }
template <class X, class Y>
requires detail::IntegerFirst<X, Y>
[[nodiscard]] EDDY_HD inline Y pow(X x, Y y) { return pow(static_cast<Y>(x), y); }
template <class A, class B, class C>
requires detail::IntegerFirst<A, B, C>
[[nodiscard]] EDDY_HD inline auto fma(A a, B b, C c) {
    return fma(static_cast<std::common_type_t<B, C>>(a), b, c);
}
template <class X, class Low, class High>
requires detail::IntegerFirst<X, Low, High>
[[nodiscard]] EDDY_HD constexpr auto clamp(X x, Low low, High high) {
    return clamp(static_cast<std::common_type_t<Low, High>>(x), low, high);
}
template <class A, class B>
requires detail::IntegerFirst<A, B>
[[nodiscard]] EDDY_HD constexpr B select(bool condition, A if_true, B if_false) {
    return condition ? static_cast<B>(if_true) : if_false;
}
/// Two integers give a real number, so `select(x < 0, 1, 2) / 4` is not an integer division.
[[nodiscard]] EDDY_HD constexpr double select(bool condition, std::same_as<int> auto if_true,
                                              std::same_as<int> auto if_false) {
    return condition ? if_true : if_false;
}

// std::abs and std::fabs are used interchangeably in C++.
template <std::floating_point Real>
[[nodiscard]] EDDY_HD inline Real fabs(Real x) {
    return abs(x);
}

}  // namespace eddy::inline v0
