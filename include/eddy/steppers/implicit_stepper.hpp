#pragma once
// What Rosenbrock and ESDIRK methods say of themselves alike: every stage solves a linear system, whose
// matrix and factors are those of the step's own start, so that every step follows from time, state and
// size, and a replay gives its bits.
// Test: tests/steppers/rosenbrock.cpp, tests/steppers/esdirk.cpp

#include <eddy/linalg/symbolic_lu.hpp>
#include <eddy/steppers/attempt_cost.hpp>
#include <eddy/steppers/butcher_tableau.hpp>
#include <eddy/steppers/memoryless_stepper.hpp>

namespace eddy::inline v0 {

/// Base of such steppers. `Self` is the stepper; `estimates_error`: whether attempts come with error
/// estimates, as a controller wants them.
template <class Self, class Term, class Method, bool estimates_error>
struct ImplicitStepper : MemorylessStepper<Term> {
    static constexpr int order = Method::order;
    static constexpr int error_order = estimates_error ? estimate_order<Method> : Method::order;
    static constexpr bool can_fail = true;
    static constexpr bool steps_to_save_points = Method::interpolant.order + 1 < Method::order;
    static constexpr AttemptCost attempt_cost{.jacobians = 1, .factorizations = 1};
    /// Dense output does not change with the size of the step as long as the stages do not: they have
    /// the size of a step themselves.
    static constexpr bool dense_output_scales_with_size = false;
    static constexpr bool solves_linear_systems = true;

    /// Can the systems of its stages be factorised by operations that are written out? Asked before anything
    /// else is made of it.
    static consteval bool check_systems() {
        constexpr bool fits = detail::may_be_written_out<typename Self::Steps::Matrix>;
        static_assert(
            fits,
            "solve: this vector field has too many states, coupled too densely, for a stiff "
            "method: the factorisation of its matrix is generated as straight-line code, of some "
            "25 states that all depend on each other or a few dozens that do not; use fewer "
            "states, "
            "leave out weak couplings, or take an explicit method");
        return fits;
    }

    template <class Input>
    [[nodiscard]] EDDY_INLINE EDDY_HD static auto step(const Input& in, const NoMemory&) {
        typename Self::template WorkOfStep<NumberOf<Input>> work;
        typename Self::template State<NumberOf<Input>> next;
        Self::replay(in, work);
        Self::Steps::set_next_state(in.y, work, next);
        return next;
    }

    template <class Number, bool with_times = false, bool dense = false>
    struct Linearization {
        typename Self::Adjoint::template Work<Number> work;
    };
    template <class Input, class Number, bool with_times, bool dense>
    EDDY_INLINE EDDY_HD static void linearize(const Input& in, const NoMemory&,
                                              Linearization<Number, with_times, dense>& of_step) {
        Self::replay(in, of_step.work);
    }
    /// The cotangent of y. `dense` is NoDenseCotangent, or a DenseCotangent with a dense
    /// linearization.
    template <class Input, class Number, bool with_times, bool is_dense, class Dense,
              class ParameterCotangent, class Times>
    [[nodiscard]] EDDY_INLINE EDDY_HD static Vec<Number, Term::state_size> pull(
        const Input& in, const Linearization<Number, with_times, is_dense>& of_step,
        const Vec<Number, Term::state_size>& next_cotangent, const Dense& dense,
        ParameterCotangent& p_cotangent, Times& times) {
        const auto pull_to = [&](auto& of_p) EDDY_INLINE {
            return Self::Adjoint::pull(in, of_step.work, next_cotangent, dense, of_p, times) +
                   dense.y;
        };
        constexpr int size = Term::parameter_size, most_local = 64;
        if constexpr (size > 0 && size <= most_local &&
                      !detail::passes_knots<typename Self::Field>) {
            Vec<Number, size> of_step_alone{};  // added to what is outside once
            const auto of_y = pull_to(of_step_alone);
            for_components<size>(
                [&](int i) EDDY_INLINE { detail::accumulate(p_cotangent, i, of_step_alone[i]); });
            return of_y;
        } else {
            return pull_to(p_cotangent);
        }
    }

    /// What is within a step where there was no attempt.
    template <class Input>
    [[nodiscard]] EDDY_HD static auto interpolant(const Input& in) {
        typename Self::template Trial<NumberOf<Input>> trial;
        Self::attempt(in, NoMemory{}, trial);
        return Self::interpolant(in, trial);
    }
};

}  // namespace eddy::inline v0
