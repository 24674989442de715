#pragma once
// The one kind of decision that an online placement makes.
// Test: tests/checkpoint/online_placement.cpp

#include <cstdint>
#include <eddy/core/host_device.hpp>
#include <eddy/core/schedule.hpp>

namespace eddy::inline v0 {

/// The state before `step` goes into `slot`, whatever that held before.
struct Placed {
    std::int64_t step;  // schedule::unbounded: nothing is stored any more
    std::int64_t slot;

    friend constexpr bool operator==(const Placed&, const Placed&) = default;
};

/// No store any more.
[[nodiscard]] EDDY_HD constexpr Placed nothing_more() { return {schedule::unbounded, 0}; }

}  // namespace eddy::inline v0
