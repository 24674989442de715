#pragma once
// The times at which a step evaluates.
// Test: tests/steppers/stochastic.cpp, tests/steppers/esdirk.cpp

#include <eddy/core/host_device.hpp>

namespace eddy::inline v0::detail {

/// t + c dt of a step's input; or what t itself says of that fraction of the step.
template <class Input>
[[nodiscard]] EDDY_INLINE EDDY_HD constexpr auto stage_time_of(const Input& in, double c) {
    if constexpr (requires { in.t.at_fraction(c); })
        return in.t.at_fraction(c);
    else
        return in.t + in.dt.fraction(c);
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
