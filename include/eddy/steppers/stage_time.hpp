#pragma once
// The times at which a step evaluates.
// Test: tests/steppers/stochastic.cpp, tests/steppers/esdirk.cpp

#include <eddy/core/host_device.hpp>

namespace eddy::inline v0::detail {

/// t + c dt; or what t itself says of that fraction of the step.
template <class Times, class Size>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr auto stage_time_of(const Times& t, const Size& dt,
                                                               double c) {
    if constexpr (requires { t.at_fraction(c); })
        return t.at_fraction(c);
    else
        return t + dt.fraction(c);
}

/// The time at which a step begins: of times that know their stages, or a number.
template <class Times>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr auto start_time_of(const Times& t) {
    if constexpr (requires { t.at_fraction(0.); })
        return t.at_fraction(0.);
    else
        return t;
}

/// The times of a step without their tangents, if they have any.
template <class Times>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr auto still_times(const Times& t) {
    if constexpr (requires { t.without_tangents(); })
        return t.without_tangents();
    else
        return t;
}

}  // namespace eddy::inline v0::detail
