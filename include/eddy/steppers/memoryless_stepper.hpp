#pragma once
// What steppers begin with alike whose steps keep nothing for the next one: the sizes and types of a
// step, a memory that is empty, and an attempt that is judged by its one estimate of the error. A
// stepper adds attempt, step, interpolant, pull_interpolant, linearize and pull (stepper.hpp).
// Test: tests/steppers/rosenbrock.cpp, tests/steppers/taylor.cpp

#include <eddy/steppers/stepper.hpp>

namespace eddy::inline v0 {

/// Base of steppers for `Term`. Names of a base that depends on parameters must be said once more
/// where they stand alone: `State` most of all.
template <class Term>
struct MemorylessStepper {
    static constexpr int state_size = Term::state_size;
    static constexpr int parameter_size = Term::parameter_size;
    static constexpr bool can_fail = false;
    static constexpr bool memory_follows_state = true;
    static constexpr bool steps_to_save_points = false;
    static constexpr int evaluations_at_start = 0;

    template <class Time>
    using Path = typename Term::template Path<Time>;
    template <class Number>
    using State = Vec<Number, state_size>;
    template <class Number>
    using Memory = NoMemory;

    template <class Input>
    [[nodiscard]] EDDY_INLINE EDDY_HD static NoMemory first(const Input&) {
        return {};
    }
    template <class Trial, class Mask>
    EDDY_INLINE EDDY_HD static void carry(const Trial&, const Mask&, NoMemory&) {}

    template <class Trial, class SquaredNorm>
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto squared_error(const Trial& trial,
                                                                SquaredNorm&& squared_norm) {
        return squared_norm(trial.error);
    }
};

}  // namespace eddy::inline v0
