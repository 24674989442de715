#pragma once
// What a field says of events: functions whose roots they are, which of their crossings count, which of them
// end the lane, and the state after the others, all members of the field,
//
//   constexpr auto event(auto t, const auto& y, const auto& p) const { … }      a number, or a vector of several
//   static constexpr auto event_direction = eddy::Crossing::falling;            or one for each; else either
//   static constexpr bool event_terminal = true;                                or one for each
//   constexpr auto at_event(auto t, const auto& y, const auto& p, auto index) const { … }
//
// (`index` may be left out; without `at_event` all are terminal, with it none).
// Fields without `event` know nothing of all this.
// Test: tests/solve/events.cpp

#include <eddy/core/host_device.hpp>
#include <eddy/trace/trace_graph.hpp>
#include <type_traits>

namespace eddy::inline v0 {

/// The direction in which an event function crosses zero, in the direction of integration.
enum class Crossing : unsigned char {
    either,  ///< in both directions
    rising,  ///< from negative to positive
    falling  ///< from positive to negative
};

namespace detail {

/// Has a field a member of this name, whatever it is? Then its name in a class that inherits two is
/// ambiguous.
struct NamesEvent {
    int event;
};
struct NamesAtEvent {
    int at_event;
};
template <class Field, class Names>
struct WithNameTwice : Field, Names {};
template <class Field>
inline constexpr bool names_event = !requires {
    &WithNameTwice<Field, NamesEvent>::event;
};
template <class Field>
inline constexpr bool names_at_event = !requires {
    &WithNameTwice<Field, NamesAtEvent>::at_event;
};

/// All of a field's functions of events; and one of them.
template <class Field>
struct EventOf {
    template <class Time, class State, class Parameters>
    constexpr auto operator()(const Time& t, const State& y,
                              const Parameters& p) const requires requires {
        Field{}.event(t, y, p);
    }
    { return Field{}.event(t, y, p); }
};
template <class Field, int i>
struct OneEventOf {
    constexpr auto operator()(const auto& t, const auto& y, const auto& p) const {
        return Field{}.event(t, y, p)[i];
    }
};
/// The state after the i-th event: of one that changes nothing, that before.
template <class Field, int i>
struct JumpOf {
    using Index = std::integral_constant<int, i>;
    template <class Time, class State, class Parameters>
    static constexpr bool takes_index = requires(const Time& t, const State& y,
                                                 const Parameters& p) {
        Field{}.at_event(t, y, p, Index{});
    };
    template <class Time, class State, class Parameters>
    static constexpr bool takes_none = requires(const Time& t, const State& y,
                                                const Parameters& p) {
        Field{}.at_event(t, y, p);
    };

    template <class Time, class State, class Parameters>
    constexpr auto operator()(const Time& t, const State& y, const Parameters& p) const
        requires(!names_at_event<Field> || takes_index<Time, State, Parameters> ||
                 takes_none<Time, State, Parameters>) {
        if constexpr (!names_at_event<Field>)
            return y;
        else if constexpr (takes_index<Time, State, Parameters>)
            return Field{}.at_event(t, y, p, Index{});
        else
            return Field{}.at_event(t, y, p);
    }
};

/// Fields whose lanes may have events.
template <class Field>
concept HasEvent = is_stateless<Field> && !std::is_final_v<Field> && names_event<Field>;
template <class Field>
inline constexpr bool has_event = HasEvent<Field>;

/// What is said once for all events, or for each.
template <class Said>
[[nodiscard]] constexpr auto said_of(const Said& said, int i) {
    if constexpr (requires { said[0]; })
        return said[i];
    else
        return said;
}
template <class Field>
[[nodiscard]] constexpr Crossing crossing_of(int i) {
    if constexpr (requires { Field::event_direction; })
        return said_of(Field::event_direction, i);
    else
        return Crossing::either;
}
/// Does a lane end at the i-th event?
template <class Field>
[[nodiscard]] constexpr bool is_terminal(int i) {
    if constexpr (requires { Field::event_terminal; })
        return said_of(Field::event_terminal, i);
    else
        return !names_at_event<Field>;
}

}  // namespace detail

}  // namespace eddy::inline v0
