#pragma once
// One step of a method, as the solve floor sees it: tried, judged, carried over, replayed, made dense
// and pulled back, in registers, on host and device; it never allocates and never throws. A step may
// have
//
//   a memory   that is carried from step to step and lies in the loop's state: the last stage of a
//              method whose first stage is the same, a Jacobian with its factors;
//   a failure  inside: a singular matrix, an iteration that does not converge. The step is then
//              rejected like one whose error is infinite;
//   a path     of noise, a pure function of lane and interval.
//
// Invariants, which make a replay give the bits of the first run: `step` gives the `next` of
// `attempt`; where a step is rejected, `carry` may look at the memory alone; where
// `memory_follows_state`, the memory is `first(in)` wherever a step begins, so that no checkpoint
// holds it.
// Test: tests/solve/other_steppers.cpp

#include <concepts>
#include <eddy/core/numeric.hpp>
#include <eddy/core/vec.hpp>
#include <eddy/steppers/kept_if.hpp>
#include <eddy/steppers/step_size.hpp>
#include <eddy/steppers/term.hpp>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

/// The tolerances of a step's error, as far as equations within the step are solved to a part of them.
/// `atol` is given for each component.
template <class Scalar>
struct StepTolerances {
    Scalar rtol;
    const Scalar* atol;
    Scalar newton_tolerance;  // the part of them that an iteration may leave
};
/// Given to steps that solve none. Those that do solve theirs to rounding then.
struct NoTolerances {};

/// What a step starts from. `t` is a number, or says what the time is at a fraction of the step;
/// `p` is anything with operator[]; `dt` a StepSize or UniformStepSize.
template <class Times, class State, class Parameters, class Size, class Path = NoPath,
          class Tolerances = NoTolerances>
struct StepInput {
    Times t;
    const State& y;
    const Parameters& p;
    const Size& dt;
    [[no_unique_address]] Path path{};
    [[no_unique_address]] Tolerances tolerances{};
};

template <class Times, class State, class Parameters, class Size, class Path>
StepInput(Times, const State&, const Parameters&, const Size&, Path)
    -> StepInput<Times, State, Parameters, Size, Path>;
template <class Times, class State, class Parameters, class Size, class Path, class Tolerances>
StepInput(Times, const State&, const Parameters&, const Size&, Path, Tolerances)
    -> StepInput<Times, State, Parameters, Size, Path, Tolerances>;

/// The number that a step from such an input computes with.
template <class Input>
using NumberOf = typename std::remove_cvref_t<decltype(std::declval<Input>().y)>::value_type;

/// The memory of a method that has none.
struct NoMemory {};
template <class Mask>
[[nodiscard]] EDDY_INLINE EDDY_HD inline NoMemory select(const Mask&, const NoMemory&,
                                                         const NoMemory&) {
    return {};
}

/// In the place of cotangents that nobody has: what they are added to stays as it is.
struct NoCotangent {
    [[nodiscard]] EDDY_INLINE EDDY_HD constexpr NoCotangent operator[](int) const { return {}; }
    template <class Value>
    [[nodiscard]] EDDY_INLINE EDDY_HD friend constexpr Value operator+(const Value& value,
                                                                       const NoCotangent&) {
        return value;
    }
};
/// Given where no point within a step has a cotangent.
struct NoDenseCotangent {
    NoCotangent y, next, stage;
};
/// What the points within a step bring to its start and to its stages, whatever these are.
template <class State, int num_stages>
struct StageCotangents {
    State y{};
    State stage[num_stages]{};
};

/// What a step brings to the cotangents of its start time and of its size.
template <class Number>
struct TimeCotangents {
    Number t, dt;

    [[nodiscard]] EDDY_INLINE EDDY_HD static TimeCotangents zero() {
        return {convert<Number>(0), convert<Number>(0)};
    }
};
/// Given where nobody asks for them.
struct NoTimeCotangents {
    [[nodiscard]] EDDY_HD static constexpr NoTimeCotangents zero() { return {}; }
};

namespace detail {

template <class S, class Number>
using PlainInput = StepInput<double, Vec<Number, S::state_size>, const Number*,
                             StepSize<double, Number>, typename S::template Path<double>>;

/// What a stepper says of itself.
template <class S>
concept DescribesSteps = requires {
    { S::order } -> std::convertible_to<float>;        // the global error falls as dt^order
    { S::error_order } -> std::convertible_to<float>;  // and the error's norm as dt^error_order
    { S::can_fail } -> std::convertible_to<bool>;
    { S::memory_follows_state } -> std::convertible_to<bool>;
    { S::steps_to_save_points } -> std::convertible_to<bool>;  // its dense output is too poor
    { S::evaluations_at_start } -> std::convertible_to<int>;   // of f, for the first memory
    { S::evaluations_per_attempt } -> std::convertible_to<int>;
    { S::evaluations_per_replay } -> std::convertible_to<int>;
};

}  // namespace detail

/// Does a state within a step move away from its start in proportion to the size of the step, as long
/// as what the step keeps does not change? So it does where stage derivatives are kept, unless the
/// stepper says otherwise.
template <class S>
inline constexpr bool dense_output_scales_with_size = [] {
    if constexpr (requires { S::dense_output_scales_with_size; })
        return S::dense_output_scales_with_size;
    else
        return true;
}();

/// How a save point at θ moves: along the interpolant's slope; or, where steps land on all save points and the
/// interpolant knows a better one, `slope_of_landing()`.
template <class Interpolant, class Theta>
[[nodiscard]] EDDY_HD auto slope_of_save(const Interpolant& interpolant, const Theta& theta) {
    if constexpr (requires { interpolant.slope_of_landing(); })
        return interpolant.slope_of_landing();
    else
        return interpolant.slope(theta);
}

/// A stepper whose steps solve linear systems: singular_component(in, place) is the component whose
/// pivot is zero or cannot be trusted in that place of a Number, −1 where that is none, or where the
/// matrix itself is not finite; infinite_component(in, place) the first where f or its Jacobian is not finite
/// at the start of the step, or f where an iteration within it has stopped.
template <class S>
concept SolvesLinearSystems = requires {
    { S::solves_linear_systems } -> std::convertible_to<bool>;
};

/// A stepper whose steps iterate, and fail where an iteration does not converge: they are told the
/// tolerances, and a trial has `evaluations`, how often the iterations have asked f.
template <class S>
concept IteratesWithinSteps = requires {
    requires S::iterates;
};

/// A step of some method for some term. A Trial has `next`, and `failed`, a mask, where the step can
/// fail; `squared_error(trial, squared_norm)` makes one squared norm of its error estimates, each
/// measured by `squared_norm(estimate)`. An interpolant gives the state at a fraction of the step by
/// `at(theta)` and its slope by `slope(theta)`. `pull` adds to `p_cotangent` by operator[] or
/// `add(i, value)`.
template <class S, class Number = double>
concept Stepper = detail::DescribesSteps<S> &&
    requires(const detail::PlainInput<S, Number>& in, typename S::template Memory<Number>& memory,
             const typename S::template Trial<Number>& trial,
             const Vec<Number, S::state_size>& cotangent,
             const typename S::template Linearization<Number, false, false>& linearization,
             typename S::template DenseCotangent<Number>& dense, Number (&p_cotangent)[1],
             NoTimeCotangents& times, typename S::template Trial<Number>& new_trial,
             typename S::template Linearization<Number, false, false>& new_linearization) {
    { S::first(in) } -> std::same_as<typename S::template Memory<Number>>;
    S::attempt(in, memory, new_trial);
    S::carry(trial, true, memory);
    { S::step(in, memory) } -> std::same_as<Vec<Number, S::state_size>>;
    { S::interpolant(in, trial).at(Number(0.5)) } -> std::same_as<Vec<Number, S::state_size>>;
    { S::interpolant(in, trial).slope(Number(0.5)) } -> std::same_as<Vec<Number, S::state_size>>;
    S::pull_interpolant(in, Number(0.5), cotangent, dense);
    S::linearize(in, memory, new_linearization);
    {
        S::pull(in, linearization, cotangent, NoDenseCotangent{}, p_cotangent, times)
        } -> std::same_as<Vec<Number, S::state_size>>;
};

}  // namespace eddy::inline v0
