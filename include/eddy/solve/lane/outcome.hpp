#pragma once
// What became of a lane.
// Test: tests/solve/failures.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/core/result.hpp>
#include <type_traits>

namespace eddy::inline v0 {

/// The outcome of a trajectory in 40 bytes of fixed layout, so that other languages can read an
/// array of them.
struct LaneOutcome {
    std::int64_t accepted = 0;     ///< byte 0: accepted steps
    std::int64_t rejected = 0;     ///< byte 8: rejected attempts
    std::int64_t evaluations = 0;  ///< byte 16: evaluations of f in the forward pass
    double t = 0;                  ///< byte 24: where it ended
    /// byte 32: the component that failed; −1: none. For `loss_not_finite` and
    /// `observed_not_finite` it is the save point.
    std::int32_t component = -1;
    Result result = Result::success;  ///< byte 36: a value of `Result`
    /// byte 37: 1 if the second method of an AutoSwitch finished the trajectory, or if integration
    /// found its steady state, else 0
    std::uint8_t method = 0;
    /// byte 38: how many of the sampled accepted steps were limited by stability; 65,535 stands for
    /// more. See steppers/stiffness.hpp.
    std::uint16_t stiff_looks = 0;
};

/// The events of a lane: how many there were, and when the last one was, if there was any, and which.
struct LaneEvents {
    std::int64_t count = 0;
    double t = 0;
    std::int32_t index = -1;
};

static_assert(std::is_standard_layout_v<LaneOutcome> && std::is_trivially_copyable_v<LaneOutcome> &&
              sizeof(LaneOutcome) == 40);
static_assert(offsetof(LaneOutcome, accepted) == 0 && offsetof(LaneOutcome, rejected) == 8 &&
              offsetof(LaneOutcome, evaluations) == 16 && offsetof(LaneOutcome, t) == 24 &&
              offsetof(LaneOutcome, component) == 32 && offsetof(LaneOutcome, result) == 36 &&
              offsetof(LaneOutcome, method) == 37 && offsetof(LaneOutcome, stiff_looks) == 38);
static_assert(sizeof(Result) == 1);

}  // namespace eddy::inline v0
