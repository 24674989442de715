#pragma once
// What a field says of events, checked: each mistake is one sentence.
// Test: tests/compile_fail/event_wrong_arguments.cpp, tests/compile_fail/event_directions.cpp

#include <eddy/solve/lane/event.hpp>
#include <eddy/trace/field_parts.hpp>
#include <iterator>
#include <type_traits>
#include <utility>

namespace eddy::inline v0::detail {

/// What is said once for all events, or in an array for each.
template <class One, class Said>
consteval bool is_said_of(const Said& said, int count) {
    if constexpr (std::is_same_v<std::remove_cvref_t<Said>, One>)
        return true;
    else if constexpr (requires {
                           requires std::is_same_v<std::remove_cvref_t<decltype(said[0])>, One>;
                       })
        return static_cast<int>(std::size(said)) == count;
    else
        return false;
}
template <class Field, int count>
consteval bool check_event_words() {
    bool fits = true;
    if constexpr (requires { Field::event_direction; }) {
        constexpr bool is_right = is_said_of<Crossing>(Field::event_direction, count);
        static_assert(is_right,
                      "events: event_direction must be one eddy::Crossing, or an array of one for "
                      "each component of event(t, y, p)");
        fits = fits && is_right;
    }
    if constexpr (requires { Field::event_terminal; }) {
        constexpr bool is_right = is_said_of<bool>(Field::event_terminal, count);
        static_assert(is_right,
                      "events: event_terminal must be one bool, or an array of one for each "
                      "component of event(t, y, p)");
        fits = fits && is_right;
    }
    return fits;
}

/// The jump behind the i-th event.
template <class Field, int i>
consteval bool check_jump() {
    if constexpr (is_terminal<Field>(i)) {
        return true;
    } else {
        constexpr bool may_jump = is_traceable_on<Field, JumpOf<Field, i>>;
        static_assert(may_jump,
                      "events: the member `at_event` must be callable as at_event(t, y, p), or "
                      "at_event(t, y, p, index), with arguments of any type: take them as auto and "
                      "const auto&");
        if constexpr (may_jump) {
            constexpr bool is_state =
                FunctionProgram<Field, JumpOf<Field, i>>::graph.outputs[0].size ==
                Field::state_size;
            static_assert(is_state,
                          "events: at_event(t, y, p) must return state_size components, the state "
                          "after the event");
            return is_state;
        }
        return false;
    }
}
template <class Field, int... i>
consteval bool check_jumps(std::integer_sequence<int, i...>) {
    constexpr bool is_called = !names_at_event<Field> || (!is_terminal<Field>(i) || ...);
    static_assert(
        is_called,
        "events: at_event(t, y, p) is never called, because every event is terminal: leave it "
        "out, or set event_terminal to false for some");
    return is_called && (check_jump<Field, i>() && ...);
}

/// The functions themselves.
template <class Field>
consteval bool check_event_functions() {
    constexpr bool is_callable = is_traceable_on<Field, EventOf<Field>>;
    static_assert(is_callable,
                  "events: the member `event` must be callable as event(t, y, p) with arguments of "
                  "any type: take them as auto and const auto&");
    if constexpr (is_callable) {
        constexpr int most = 32;
        constexpr bool are_few = num_events<Field> <= most;
        static_assert(are_few, "events: event(t, y, p) may have at most 32 components");
        if constexpr (are_few && check_event_words<Field, num_events<Field>>())
            return check_jumps<Field>(std::make_integer_sequence<int, num_events<Field>>{});
    }
    return false;
}

template <class Field>
consteval bool check_event() {
    if constexpr (has_event<Field>) {
        return check_event_functions<Field>();
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
