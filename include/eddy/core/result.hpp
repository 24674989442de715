#pragma once
// The outcome of one lane, one byte. The first failure stays; a failure outranks an event.

#include <cstdint>
#include <eddy/core/host_device.hpp>

namespace eddy::inline v0 {

enum class Result : std::uint8_t {
    success,
    event,
    max_steps_reached,
    dt_underflow,
    non_finite,
    cancelled,
    singular_matrix,
    newton_failed,
    inconsistent_start,
};

/// One sentence that says what happened and what to do.
[[nodiscard]] constexpr const char* message(Result result) {
    switch (result) {
        case Result::success: return "success";
        case Result::event: return "stopped at an event";
        case Result::max_steps_reached:
            return "max_steps reached before the end: raise max_steps, or the length of a loop; or "
                   "take fewer steps, by looser tolerances or a stiff method where a controller "
                   "chooses their size, by a larger dt0 where it is constant";
        case Result::dt_underflow:
            return "the step size fell below dt_min: the problem may be stiff, singular, or the "
                   "tolerances too tight";
        case Result::non_finite:
            return "a state or derivative became infinite or NaN: check the vector field and its "
                   "parameters";
        case Result::cancelled: return "cancelled before the end";
        case Result::singular_matrix:
            return "a linear system of a step has no solution that can be trusted: take smaller "
                   "steps, "
                   "or a controller that does";
        case Result::newton_failed:
            return "Newton's iteration for a stage of a step does not converge: take smaller "
                   "steps, or "
                   "a controller that does";
        case Result::inconsistent_start:
            return "algebraic equations have no solution that Newton's method finds from the "
                   "start: "
                   "give algebraic components closer to it, and see that the index is 1";
    }
    return "unknown result";
}

[[nodiscard]] EDDY_HD constexpr bool is_failure(Result result) {
    return result != Result::success && result != Result::event;
}

/// The result of a lane that had `first` and now meets `next`.
[[nodiscard]] EDDY_HD constexpr Result combine(Result first, Result next) {
    if (is_failure(first)) return first;
    return next == Result::success ? first : next;
}

}  // namespace eddy::inline v0
