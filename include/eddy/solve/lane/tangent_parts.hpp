#pragma once
// A lane's number is plain, or dual: what holds of both is written once, in these words.
// Test: tests/solve/start_values.cpp, tests/solve/oracle.cpp

#include <eddy/ad/dual.hpp>

namespace eddy::inline v0::detail {

/// The tangent of a number; zero of a plain one.
template <class Number>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr Number tangent_or_zero(const Number&) {
    return Number(0);
}
template <class Primal>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr Primal tangent_or_zero(const Dual<Primal>& x) {
    return x.tangent;
}
/// Sets the tangent of a number that has one.
template <class Number>
EDDY_INLINE EDDY_HD constexpr void set_tangent(Number&, const Number&) {}
template <class Primal>
EDDY_INLINE EDDY_HD constexpr void set_tangent(Dual<Primal>& x, const Primal& tangent) {
    x.tangent = tangent;
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
