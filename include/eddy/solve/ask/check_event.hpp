#pragma once
// What a field says of events, checked: each mistake, and each call that cannot take events, is one sentence.

#include <eddy/solve/ask/auto_switch.hpp>
#include <eddy/solve/lane/event.hpp>
#include <eddy/solve/lane/lane_start.hpp>
#include <eddy/steppers/stochastic/kinetic_term.hpp>

namespace eddy::inline v0::detail {

/// The functions themselves.
template <class Field>
consteval bool check_event_functions() {
    constexpr bool is_callable = is_traceable_on<Field, EventOf<Field>>;
    constexpr bool may_jump = !has_jump<Field> || is_traceable_on<Field, JumpOf<Field>>;
    static_assert(is_callable,
                  "events: the member `event` must be callable as event(t, y, p) with arguments of "
                  "any type: take them as auto and const auto&");
    static_assert(
        may_jump,
        "events: the member `at_event` must be callable as at_event(t, y, p) with arguments "
        "of any type: take them as auto and const auto&");
    bool fits = is_callable && may_jump;
    if constexpr (is_callable) {
        constexpr bool is_number =
            FunctionProgram<Field, EventOf<Field>>::graph.outputs[0].is_scalar;
        static_assert(is_number,
                      "events: event(t, y, p) must return one number, whose roots are the events");
        fits = fits && is_number;
    }
    if constexpr (has_jump<Field> && may_jump) {
        constexpr bool is_state =
            FunctionProgram<Field, JumpOf<Field>>::graph.outputs[0].size == Field::state_size;
        static_assert(
            is_state,
            "events: at_event(t, y, p) must return state_size components, the state after "
            "the event");
        fits = fits && is_state;
    }
    return fits;
}

template <class Field, class Method>
consteval bool check_event() {
    if constexpr (has_event<Field>) {
        constexpr bool is_vector_field = !StochasticField<Field> && !KineticField<Field>;
        static_assert(is_vector_field,
                      "events: paths of noise have none; leave the member `event` out, or look at "
                      "the steps that save_steps keeps");
        static_assert(!is_auto_switch<Method>,
                      "events: AutoSwitch begins lanes anew, and takes no events; give one of its "
                      "methods");
        if constexpr (is_vector_field && !is_auto_switch<Method>) {
            constexpr bool is_ode = !has_algebraic_components<Field>();
            static_assert(
                is_ode,
                "events: an equation with algebraic components has none: leave the member "
                "`event` out, or give a mass matrix that is regular");
            return is_ode && check_event_functions<Field>();
        }
        return false;
    } else if constexpr (is_stateless<Field> && !std::is_final_v<Field>) {
        static_assert(!names_at_event<Field>,
                      "events: there is a member `at_event`, but no `event` whose roots are the "
                      "events; give both");
        return !names_at_event<Field>;
    } else {
        return true;
    }
}

}  // namespace eddy::inline v0::detail
