#pragma once
// An impulse, as lanes read it.
// Test: tests/solve/impulse_plans.cpp

#include <cstdint>
#include <eddy/solve/ask/impulses.hpp>

namespace eddy::inline v0::detail {

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

}  // namespace eddy::inline v0::detail
