#pragma once
// The types of a solve: what lanes are computed with, from the equation, the method, the controller
// and the type of number. `Number` is a plain number (one lane to a member of a team), a pack
// (several places, one lane in each), or a dual number of either. Time is double, but for backends that
// keep it in pairs of floats; errors and controllers are single precision.
// Test: tests/solve/other_steppers.cpp

#include <cstdint>
#include <eddy/ad/dual_lanes.hpp>
#include <eddy/core/float_float.hpp>
#include <eddy/core/lanes.hpp>
#include <eddy/core/pack_math.hpp>
#include <eddy/core/vec.hpp>
#include <eddy/solve/lane/event.hpp>
#include <eddy/steppers/brownian/dyadic_path.hpp>
#include <eddy/steppers/controller/decision.hpp>
#include <eddy/steppers/explicit_rk_stepper.hpp>
#include <type_traits>

namespace eddy::inline v0::detail {

template <class Controller>
concept AcceptsAlways = requires {
    requires !Controller::is_adaptive;
};

template <class Stepper, class Scalar>
concept HasConstantSize = requires {
    typename Stepper::template ConstantSize<Scalar>;
};

/// The size of a step that was accepted, negative if to an event, else zero; and which event it was, of
/// several functions.
template <class Time>
struct UsedStep {
    Time size, event;

    UsedStep() = default;
    EDDY_HD UsedStep(const Time& size_, const Time& event_ = Time(0))
        : size(size_), event(event_) {}
};
template <class Time>
[[nodiscard]] EDDY_INLINE EDDY_HD inline const Time& size_in(const Time& used) {
    return used;
}
template <class Time>
[[nodiscard]] EDDY_INLINE EDDY_HD inline const Time& size_in(const UsedStep<Time>& used) {
    return used.size;
}

/// The event to which it is, of several functions.
template <class Time>
[[nodiscard]] EDDY_INLINE EDDY_HD inline NotKept<Time> event_in(const Time&) {
    return {};
}
template <class Time>
[[nodiscard]] EDDY_INLINE EDDY_HD inline const Time& event_in(const UsedStep<Time>& used) {
    return used.event;
}

/// Everything that is fixed when a solve is compiled.
template <class FieldType, class MethodType, class ControllerType, class NumberType, bool shared,
          class TimeType = eddy::WithElement<PrimalOf<NumberType>, double>>
struct SolveSpec {
    using Field = FieldType;
    using Method = MethodType;
    using Controller = ControllerType;
    using Number = NumberType;
    using Term = TermOf<Field>;

    using Primal = PrimalOf<Number>;  // of the state, without tangents
    using Scalar = ScalarOf<Number>;  // float or double
    using Time = TimeType;
    using Single = eddy::WithElement<Primal, float>;
    using Lane = LaneOf<Number>;  // what one lane of a Number holds
    using History = ControllerHistory<Single>;

    static constexpr bool is_adaptive = !AcceptsAlways<Controller>;
    using Stepper = StepperFor<Term, Method, is_adaptive>;
    static_assert(eddy::Stepper<Stepper>,
                  "solve: the method's stepper must be a Stepper, see "
                  "steppers/stepper.hpp");
    using Memory = typename Stepper::template Memory<Number>;
    /// What steps know of the tolerances.
    using Tolerances =
        std::conditional_t<IteratesWithinSteps<Stepper>, StepTolerances<Scalar>, NoTolerances>;
    using Path = typename Stepper::template Path<Time>;
    static constexpr bool has_path = !std::is_same_v<Path, NoPath>;
    /// Is the path one of Brownian noise, which a NoisePlan numbers?
    static constexpr bool has_noise = requires { requires Path::is_numbered; };
    /// Are steps dyadic parts of the cells of noise?
    static constexpr bool has_dyadic_steps = has_noise && is_adaptive;
    static constexpr int num_noises = [] {
        if constexpr (has_noise)
            return Term::num_noises;
        else
            return 0;
    }();
    /// Normals that a step of constant size takes from its cell: of W, and of H and K where it wants them.
    static constexpr int normals_per_step = [] {
        if constexpr (has_noise && !is_adaptive)
            return num_noises * (1 + Stepper::num_areas);
        else
            return 0;
    }();
    /// How many functions have roots that are events; do lanes end at some, and go on after some?
    static constexpr int num_events = detail::num_events<Field>;
    static constexpr bool has_event = num_events > 0;
    static constexpr bool has_several_events = num_events > 1;
    /// Do some depend on time and parameters only? Do all?
    static constexpr bool has_timed_events = num_timed_events<Field> > 0;
    static constexpr bool has_timed_events_only =
        has_timed_events && num_timed_events<Field> == num_events;
    static constexpr bool has_end = num_terminal<Field>() > 0;
    static constexpr bool has_jump = num_terminal<Field>() < num_events;
    /// What a round's log says of a place's step.
    using Used = std::conditional_t<has_several_events, UsedStep<Time>, Time>;
    /// Is elapsed time a number of steps, and not the sum of their sizes?
    static constexpr bool counts_steps = !is_adaptive && !has_event;
    /// Are rounds of one known size worth a shorter text?
    static constexpr bool has_constant_size = counts_steps && HasConstantSize<Stepper, Scalar>;

    static constexpr bool shares_parameters = shared;
    static constexpr bool is_dual = !std::is_same_v<Number, Primal>;
    /// Do the times of a lane have tangents? Behind an event they do.
    static constexpr bool moves_times = is_dual && has_event;
    static constexpr int num_places = num_lanes_of<Number>;
    static constexpr int state_size = Term::state_size;
    /// Numbers of a piece of the inputs, which steps read behind the parameters.
    static constexpr int input_room = input_room_of<Field>;
    /// Do steps pass over the knots of inputs, each stage in the piece in which its time lies?
    static constexpr bool passes_knots = detail::passes_knots<Field>;
    static constexpr int parameter_size = Term::parameter_size - input_room;
    /// Does each lane hand out its own addend of the parameters' gradient? The addends of many shared
    /// parameters stay in the places: lanes are then assigned in an order that depends on nothing
    /// else.
    static constexpr bool sums_by_lane = !shared || parameter_size <= 64;
    /// Room for what a step reads of both, and for the cotangents of that.
    static constexpr int parameter_room = Term::parameter_size > 0 ? Term::parameter_size : 1;

    using State = Vec<Number, state_size>;
    using LaneState = Vec<Lane, state_size>;
};

}  // namespace eddy::inline v0::detail
