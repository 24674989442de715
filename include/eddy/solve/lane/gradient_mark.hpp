#pragma once
// Which steps of a lane are looked at on its way back, and what is kept of a lane whose derivative
// they do not carry.
// Test: tests/solve/unreliable.cpp

#include <cstdint>
#include <eddy/core/math.hpp>
#include <string>

namespace eddy::inline v0 {

/// Where the derivative of a lane left its steps behind: at `t` a mode of the Jacobian, zero or
/// nearly so in the state, had |h λ| = `ratio`. Without gaps: a device copies all of it.
struct GradientMark {
    double t = 0;
    double ratio = 0;  ///< 0: nowhere; infinite: the derivative itself was not finite

    [[nodiscard]] explicit operator bool() const { return ratio > 0; }
};

/// A sentence on where a gradient is unreliable, and what helps.
[[nodiscard]] std::string to_text(const GradientMark& mark);

namespace detail {

// The two first and the two last attempts of a lane, and every 128th between: where an instability ends
// or begins, and now and then in long lanes. In a pack whose lanes are at different attempts nearly
// every look is of one lane alone, and costs as much as one of all.
inline constexpr std::int64_t looks_at_each_end = 2, looks_every = 128;

/// Is attempt number `attempt` of `attempts` looked at?
[[nodiscard]] EDDY_HD constexpr bool is_looked_at(std::int64_t attempt, std::int64_t attempts) {
    return attempt >= 0 && (attempt < looks_at_each_end ||
                            attempt >= attempts - looks_at_each_end || attempt % looks_every == 0);
}
/// The last attempt before this one that is looked at; negative where there is none.
[[nodiscard]] EDDY_HD constexpr std::int64_t look_before(std::int64_t attempt,
                                                         std::int64_t attempts) {
    const std::int64_t before = attempt - 1;
    if (before < looks_at_each_end || before >= attempts - looks_at_each_end) return before;
    return max(before - before % looks_every, looks_at_each_end - 1);
}

/// Steppers whose adjoint can be watched. Lanes with events are not solved once more.
template <class Spec>
inline constexpr bool can_watch = Spec::is_adaptive && !Spec::has_event && requires {
    typename Spec::Stepper::Watch;
};

/// What the watch of a group reads and writes. Without marks it watches nothing.
struct WatchMemory {
    const std::int64_t* first_rounds = nullptr;  // (lane) in which each began
    GradientMark* marks = nullptr;               // (lane)
};

}  // namespace detail

}  // namespace eddy::inline v0
