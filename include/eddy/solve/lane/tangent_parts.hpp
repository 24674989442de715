#pragma once
// A lane's number is plain, or dual: what holds of both is written once, in these words.
// Test: tests/solve/start_values.cpp, tests/solve/oracle.cpp

#include <eddy/ad/dual.hpp>

namespace eddy::inline v0::detail {

/// The tangent of a number; zero of a plain one.
template <class Number>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr PrimalOf<Number> tangent_or_zero(
    [[maybe_unused]] const Number& x) {
    if constexpr (is_dual<Number>)
        return x.tangent;
    else
        return Number(0);
}
/// Sets the tangent of a number that has one.
template <class Number>
EDDY_INLINE EDDY_HD constexpr void set_tangent([[maybe_unused]] Number& x,
                                               [[maybe_unused]] const PrimalOf<Number>& tangent) {
    if constexpr (is_dual<Number>) x.tangent = tangent;
}
/// A number of this value; tangent() is asked of a dual one alone.
template <class Number, class Tangent>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr Number number_of_parts(
    const PrimalOf<Number>& value, [[maybe_unused]] const Tangent& tangent) {
    if constexpr (is_dual<Number>)
        return {value, tangent()};
    else
        return value;
}

}  // namespace eddy::inline v0::detail
