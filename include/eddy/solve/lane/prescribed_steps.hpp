#pragma once
// Steps that lanes are to make: those that another solve has found. A size is looked up by the elapsed
// time at which the step begins, which the lane meets again bit for bit, so that no count has to be
// carried along.
// Test: tests/solve/stable_gradients.cpp

#include <cstddef>
#include <cstdint>
#include <eddy/core/host_device.hpp>
#include <eddy/solve/lane/rows.hpp>
#include <limits>

namespace eddy::inline v0::detail {

/// A step that a lane has accepted, up to time t; where a lane begins its size is zero.
struct TakenStep {
    double t;
    double elapsed = 0, size = 0;  // at its start
};

/// The absolute tolerance of such steps, which are accepted whatever their errors are.
template <class Real>
inline constexpr Real any_atol = std::numeric_limits<Real>::max() / 16;

/// The accepted steps of all lanes of a launch, one lane after another: step first[0] is the first of all.
/// None where `first` is null.
struct PrescribedSteps {
    const std::int64_t* first = nullptr;  // (lane), and the end of the last one
    const double* elapsed = nullptr;      // (step) at its start, ascending within a lane
    const double* size = nullptr;         // (step)

    [[nodiscard]] EDDY_HD explicit operator bool() const { return first != nullptr; }
    /// The size of the step that begins at `at`, or of the last one before.
    [[nodiscard]] EDDY_HD double size_at(LaunchLane of, double at) const {
        const std::ptrdiff_t lane = to_index(of);
        std::int64_t below = first[lane] - first[0], above = first[lane + 1] - first[0];
        while (above - below > 1) {
            const std::int64_t middle = below + (above - below) / 2;
            (elapsed[middle] <= at ? below : above) = middle;
        }
        return size[below];
    }
};

}  // namespace eddy::inline v0::detail
