#pragma once
// What a call asks for, by its types, and the one sentence of the table that refuses it.
// Test: tests/compile_fail/event_of_noise.cpp, tests/compile_fail/nested_times.cpp

#include <eddy/core/float_float.hpp>
#include <eddy/solve/ask/auto_switch.hpp>
#include <eddy/solve/ask/combinations.hpp>
#include <eddy/solve/ask/extras.hpp>
#include <eddy/solve/ask/memory.hpp>
#include <eddy/solve/lane/event.hpp>
#include <eddy/solve/lane/lane_start.hpp>
#include <eddy/steppers/esdirk_tableau.hpp>
#include <eddy/steppers/mass_matrix.hpp>
#include <eddy/steppers/stochastic/kinetic_term.hpp>
#include <eddy/steppers/stochastic/stochastic_tableau.hpp>
#include <eddy/trace/field.hpp>
#include <eddy/trace/passes/write_out.hpp>
#include <type_traits>

namespace eddy::inline v0::detail {

template <class Field, class Method>
inline constexpr Family family_of = [] {
    if constexpr (is_auto_switch<Method>)
        return Family::auto_switch;
    else if constexpr (requires { requires Method::is_kinetic; })
        return Family::langevin;
    else if constexpr (requires { Method::calculus; } ||
                       (StochasticField<Field> && !requires { requires !Method::takes_noise; }))
        return Family::noise;
    else if constexpr (RungeKuttaMethod<Method>)
        return Family::explicit_rk;
    else
        return takes_mass<Method> ? Family::rosenbrock : Family::other;
}();

/// The machine that computes numbers of type Real for a backend.
template <class Backend, class Real>
inline constexpr Machine machine_of = [] {
    if constexpr (requires { Backend::machine; })
        return Backend::machine;
    else if constexpr (requires {
                           requires std::is_same_v<typename Backend::template Time<Real>,
                                                   FloatFloat>;
                       })
        return Machine::float_time;
    else if constexpr (is_of_device<Backend>)
        return Machine::device;
    else
        return Machine::host;
}();

/// Does the method estimate its error, of this equation?
template <class Field, class Method>
inline constexpr bool estimates_error_of = has_error_estimate<Method>;
template <StochasticField Field, RungeKuttaMethod Method>
inline constexpr bool estimates_error_of<Field, Method> = AlongPath<Method>::has_error_estimate;

/// What loops of the language stand in an ordinary equation.
template <class Field>
struct LoopsOfField {
    bool any = false, have_known_lengths = true;
    constexpr LoopsOfField() {
        if constexpr (!StochasticField<Field> && !KineticField<Field>) {
            any = has_loops(FieldProgram<Field>::graph);
            have_known_lengths = passes::has_known_lengths(FieldProgram<Field>::graph);
        }
    }
};

/// Is it a call that pulls cotangents back?
[[nodiscard]] constexpr bool goes_back(CallKind kind) {
    return kind != CallKind::solve && kind != CallKind::pushforward;
}

/// Are there events beside components that have no derivative of their own?
template <class Field, class Method>
concept HasEventsOfAlgebraic = has_event<Field> && has_mass<Field> && takes_mass<Method> &&
    has_algebraic_components<Field>();

/// What a call asks for; `Choice`: its extras.
template <class Field, class Method, class Choice, CallKind call>
inline constexpr Features features_of = [] {
    constexpr Family family = family_of<Field, Method>;
    constexpr bool is_noisy = StochasticField<Field>, is_langevin = KineticField<Field>;
    constexpr bool adapts = !requires { requires !Choice::Controller::is_adaptive; };
    constexpr LoopsOfField<Field> of_field;
    return Features()
        .with(Feature::ordinary, !is_noisy && !is_langevin)
        .with(Feature::stochastic, is_noisy)
        .with(Feature::langevin, is_langevin)
        .with(Feature::joint, steps_jointly<typename Choice::Controller>)
        .with(Feature::rosenbrock, family == Family::rosenbrock)
        .with(Feature::esdirk, EsdirkMethod<Method>)
        .with(Feature::other_method, family != Family::explicit_rk &&
                                         family != Family::rosenbrock && !EsdirkMethod<Method>)
        .with(Feature::auto_switch, family == Family::auto_switch)
        .with(Feature::gradient, call == CallKind::gradient || call == CallKind::pullback)
        .with(Feature::tangents, call == CallKind::pushforward)
        .with(Feature::hessian, call == CallKind::hessian)
        .with(Feature::mass, has_mass<Field>)
        .with(Feature::estimate_with_events, has_event<Field> && Choice::estimates_error)
        .with(Feature::events, has_event<Field>)
        .with(Feature::events_of_algebraic, HasEventsOfAlgebraic<Field, Method>)
        .with(Feature::times, goes_back(call) && Choice::with_times)
        .with(Feature::gradient_error, goes_back(call) && Choice::estimates_error)
        .with(Feature::adaptive, adapts)
        .with(Feature::adaptive_noise, adapts && is_noisy)
        .with(Feature::inputs, HasInputs<Field>)
        .with(Feature::passed_inputs, passes_knots<Field>)
        .with(Feature::loops, of_field.any && of_field.have_known_lengths)
        .with(Feature::searches, of_field.any && !of_field.have_known_lengths)
        .with(Feature::observe, !std::is_void_v<typename Choice::Function>)
        .with(Feature::no_error_estimate, !estimates_error_of<Field, Method>);
}();

/// The arrays of a solver object that no call has given any.
struct NoArrays {};

/// The type of an array's numbers; double, of what is no array.
template <class Array>
struct ScalarOrDouble {
    using type = double;
};
template <class Array>
requires is_ensemble_array<Array>
struct ScalarOrDouble<Array> {
    using type = EnsembleScalarOf<Array>;
};

/// The machine that computes numbers like those of y0; a call without an array has double.
template <class Choice, class Y0>
inline constexpr Machine machine_for =
    machine_of<typename Choice::Backend, typename ScalarOrDouble<Y0>::type>;

/// Says why a call is refused, if it is.
template <CallKind call, class Y0, class Field, class Method, class Choice>
consteval bool check_combination() {
    constexpr auto refusal_on = [](Machine machine) {
        return refusal_of(features_of<Field, Method, Choice, call>, family_of<Field, Method>,
                          machine, call);
    };
    constexpr bool is_possible = check_refusal<refusal_on(machine_for<Choice, Y0>)>();
    if constexpr (is_possible && Choice::has_ranks)
        return check_refusal<refusal_on(Machine::ranks)>();
    return is_possible;
}

}  // namespace eddy::inline v0::detail
