#pragma once
// What an attempt of a stepper takes, for reports.
// Test: tests/solve/steady_state.cpp, tests/solve/stiff.cpp

#include <cstdint>

namespace eddy::inline v0 {

/// What an attempted step takes beside evaluations of f.
struct AttemptCost {
    std::int32_t jacobians = 0, factorizations = 0;
    bool jacobian_comes_with_f = false;  // one with each evaluation
    bool seeks_rest = false;             // a steady state, not an end
};

namespace detail {

/// The attempt cost of a stepper: none, but what it says itself.
template <class Stepper>
inline constexpr AttemptCost attempt_cost{};
template <class Stepper>
requires requires { Stepper::attempt_cost; }
inline constexpr AttemptCost attempt_cost<Stepper> = Stepper::attempt_cost;

}  // namespace detail

}  // namespace eddy::inline v0
