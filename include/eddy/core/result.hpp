#pragma once
// The outcome of one lane, one byte. The first failure stays; a failure outranks an event.
// Test: tests/core/result.cpp

#include <cstdint>
#include <eddy/core/host_device.hpp>
#include <iosfwd>

namespace eddy::inline v0 {

/// The outcome of a trajectory or of a loop. Values are only ever added, so that other languages
/// may rely on them.
enum class Result : std::uint8_t {
    success = 0,             ///< the end was reached
    event = 1,               ///< a terminal event ended the trajectory
    max_steps_reached = 2,   ///< `max_steps` steps did not reach the end
    dt_underflow = 3,        ///< the step size fell below `dt_min`
    non_finite = 4,          ///< a state or derivative became infinite or NaN
    cancelled = 5,           ///< the call was cancelled before the end
    singular_matrix = 6,     ///< a linear system of a step could not be solved reliably
    newton_failed = 7,       ///< the Newton iteration of a stage did not converge
    inconsistent_start = 8,  ///< the algebraic equations have no solution near the initial values
    loss_not_finite = 9,  ///< the loss is infinite or NaN at a save point where the state is finite
    /// `observe` is infinite or NaN at a save point where the state is finite
    observed_not_finite = 10,
    loop_limit = 11,  ///< a loop or root of the equation ran out of turns
};

/// The name of a value: "success".
[[nodiscard]] constexpr const char* name(Result result) {
    switch (result) {
        case Result::success: return "success";
        case Result::event: return "event";
        case Result::max_steps_reached: return "max_steps_reached";
        case Result::dt_underflow: return "dt_underflow";
        case Result::non_finite: return "non_finite";
        case Result::cancelled: return "cancelled";
        case Result::singular_matrix: return "singular_matrix";
        case Result::newton_failed: return "newton_failed";
        case Result::inconsistent_start: return "inconsistent_start";
        case Result::loss_not_finite: return "loss_not_finite";
        case Result::observed_not_finite: return "observed_not_finite";
        case Result::loop_limit: return "loop_limit";
    }
    return "unknown result";
}

/// Prints the name; Catch2 and GoogleTest do so as well.
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, Result result) {
    return out << name(result);
}

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
        case Result::loss_not_finite:
            return "the loss became infinite or NaN at a save point where the state is finite, as "
                   "the logarithm of a component that is not above zero does: failure(lane) has "
                   "the save point, its time and the state; check the loss, and where a small "
                   "component has lost its sign, lower atol";
        case Result::observed_not_finite:
            return "what observe(function) makes of the state became infinite or NaN at a save "
                   "point where the state is finite: failure(lane) has the save point and its "
                   "time; check the function";
        case Result::loop_limit:
            return "a bounded_while or a root of the equation ran out of turns, however small the "
                   "step: raise their limit, give a better start, or loosen their tolerance";
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

/// True unless the result is success or event.
[[nodiscard]] EDDY_HD constexpr bool is_failure(Result result) {
    return result != Result::success && result != Result::event;
}

/// The result of a lane that had `first` and now meets `next`.
[[nodiscard]] EDDY_HD constexpr Result combine(Result first, Result next) {
    if (is_failure(first)) return first;
    return next == Result::success ? first : next;
}

}  // namespace eddy::inline v0
