#pragma once
// An impulse, as lanes read it.
// Test: tests/solve/impulse_plans.cpp, tests/solve/impulses.cpp

#include <cstdint>

namespace eddy::inline v0 {

/// What an impulse does to its component.
enum class Impulse : std::uint8_t {
    add,      ///< adds the amount
    replace,  ///< puts the amount in its place
    scale     ///< multiplies it by the amount
};

namespace detail {

/// What changes a component of the state. Where they lie in time tstops say.
struct PlannedImpulse {
    double amount = 0;
    std::int32_t component = 0;
    Impulse kind = Impulse::add;
};

/// Impulses from one to before another.
struct ImpulseRange {
    std::int32_t first = 0, end = 0;

    [[nodiscard]] constexpr bool is_empty() const { return first == end; }
};

}  // namespace detail

}  // namespace eddy::inline v0
