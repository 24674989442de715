#pragma once
// What a field says of events: functions whose roots they are, which of their crossings count, which of them
// end the lane, and the state after the others, all members of the field,
//
//   constexpr auto event(auto t, const auto& y, const auto& p) const { … }      a number, or a vector of several
//   static constexpr auto event_direction = eddy::Crossing::falling;            or one for each; else either
//   static constexpr bool event_terminal = true;                                or one for each
//   constexpr auto at_event(auto t, const auto& y, const auto& p, auto index) const { … }
//
// (`index` may be left out; without `at_event` all are terminal, with it none) and their programs, with
// pullbacks. Fields without `event` know nothing of all this.
// Test: tests/solve/events.cpp

#include <eddy/ad/vjp.hpp>
#include <eddy/core/static_for.hpp>
#include <eddy/core/vec.hpp>
#include <eddy/trace/field.hpp>
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
inline constexpr bool has_event = [] {
    if constexpr (is_stateless<Field> && !std::is_final_v<Field>)
        return names_event<Field>;
    else
        return false;
}();

template <class Field, class Function>
using FunctionProgram =
    decltype(trace<Scalar, Vector<Field::state_size>, Vector<Field::parameter_size>>(Function{}));
template <class Program>
using WholePullback = decltype(vjp<0, 1, 2>(Program{}));

/// How many functions a field has whose roots are events.
template <class Field>
inline constexpr int num_events = [] {
    if constexpr (has_event<Field>) {
        constexpr auto& root = FunctionProgram<Field, EventOf<Field>>::graph.outputs[0];
        return root.is_scalar ? 1 : static_cast<int>(root.size);
    } else {
        return 0;
    }
}();

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
/// Does this event end a lane? Its number is known only when the program runs.
template <class Field>
[[nodiscard]] EDDY_HD bool is_terminal_at(int event) {
    bool ends = false;
    static_for<0, num_events<Field>>([&]<int i>() {
        if constexpr (is_terminal<Field>(i)) ends = ends || event == i;
    });
    return ends;
}
template <class Field>
[[nodiscard]] consteval int num_terminal() {
    int count = 0;
    for (int i = 0; i < num_events<Field>; ++i) count += is_terminal<Field>(i) ? 1 : 0;
    return count;
}

/// Does g pass zero in the wanted direction, from what it was to what it is? Not from zero.
template <Crossing wanted, class Time>
[[nodiscard]] EDDY_INLINE EDDY_HD inline auto crosses(const Time& before, const Time& now) {
    const auto falls = (before > Time(0)) & (now <= Time(0));
    const auto rises = (before < Time(0)) & (now >= Time(0));
    if constexpr (wanted == Crossing::falling)
        return falls;
    else if constexpr (wanted == Crossing::rising)
        return rises;
    else
        return falls | rises;
}

/// What a field's events ask, in any type of number. `p` is anything with operator[].
template <class Field>
struct EventFunctions {
    static constexpr int state_size = Field::state_size;
    static constexpr int count = num_events<Field>;
    using Roots = FunctionProgram<Field, EventOf<Field>>;
    /// One alone: of the others nothing is asked, not even what would be multiplied by zero.
    template <int i>
    using Root = typename std::conditional_t<Roots::graph.outputs[0].is_scalar,
                                             std::type_identity<EventOf<Field>>,
                                             std::type_identity<OneEventOf<Field, i>>>::type;
    template <int i>
    static constexpr Crossing crossing = crossing_of<Field>(i);
    template <int i>
    static constexpr bool is_terminal = detail::is_terminal<Field>(i);

    template <class Number, class Time, class Parameters>
    [[nodiscard]] EDDY_INLINE EDDY_HD static Vec<Number, count> values(
        const Time& t, const Vec<Number, state_size>& y, const Parameters& p) {
        Vec<Number, count> g{};
        evaluate<Roots, Number>([&]<int output>(int i, const Number& value)
                                    EDDY_INLINE { g.data[i] = value; },
                                t, y, p);
        return g;
    }
    /// The i-th alone.
    template <int i, class Number, class Time, class Parameters>
    [[nodiscard]] EDDY_HD static Number value(const Time& t, const Vec<Number, state_size>& y,
                                              const Parameters& p) {
        Number g{};
        evaluate<FunctionProgram<Field, Root<i>>, Number>(
            [&]<int output>(int, const Number& value) { g = value; }, t, y, p);
        return g;
    }
    /// The derivatives of the i-th: that by t is returned, that by p handed to add_to_p(k, value).
    template <int i, class Number, class Time, class Parameters, class AddToP>
    [[nodiscard]] EDDY_HD static Number derivatives(const Time& t, const Vec<Number, state_size>& y,
                                                    const Parameters& p,
                                                    Vec<Number, state_size>& by_y,
                                                    AddToP&& add_to_p) {
        return pull<FunctionProgram<Field, Root<i>>>(t, y, p, convert<Number>(1), by_y, add_to_p);
    }

    /// The state after the i-th.
    template <int i, class Number, class Time, class Parameters>
    [[nodiscard]] EDDY_HD static Vec<Number, state_size> jump(const Time& t,
                                                              const Vec<Number, state_size>& y,
                                                              const Parameters& p) {
        Vec<Number, state_size> after{};
        evaluate<FunctionProgram<Field, JumpOf<Field, i>>, Number>(
            [&]<int output>(int k, const Number& value) { after.data[k] = value; }, t, y, p);
        return after;
    }
    /// Pulls a jump back: the cotangent of the state before from that of the state after; that of t
    /// is returned, that of p handed to add_to_p(k, value).
    template <int i, class Number, class Time, class Parameters, class AddToP>
    [[nodiscard]] EDDY_HD static Number pull_jump(const Time& t, const Vec<Number, state_size>& y,
                                                  const Parameters& p,
                                                  const Vec<Number, state_size>& of_after,
                                                  Vec<Number, state_size>& of_before,
                                                  AddToP&& add_to_p) {
        return pull<FunctionProgram<Field, JumpOf<Field, i>>>(t, y, p, of_after, of_before,
                                                              add_to_p);
    }

  private:
    template <class Program, class Number, class Time, class Parameters, class Cotangent,
              class AddToP>
    [[nodiscard]] EDDY_HD static Number pull(const Time& t, const Vec<Number, state_size>& y,
                                             const Parameters& p, const Cotangent& cotangent,
                                             Vec<Number, state_size>& by_y, AddToP&& add_to_p) {
        Number by_t = convert<Number>(0);
        evaluate<WholePullback<Program>, Number>(
            [&]<int output>(int k, const Number& value) {
                if constexpr (output == 0)
                    by_t = value;
                else if constexpr (output == 1)
                    by_y.data[k] = value;
                else
                    add_to_p(k, value);
            },
            t, y, p, cotangent);
        return by_t;
    }
};

/// Does the i-th function of a field's events read nothing of the state? Then its events are known by the time.
template <class Field, int i>
inline constexpr bool is_timed_event = !reads_argument(
    FunctionProgram<Field, typename EventFunctions<Field>::template Root<i>>::graph, 1);
/// How many of a field's events are roots of functions that read nothing of the state.
template <class Field>
inline constexpr int num_timed_events = [] {
    int count = 0;
    static_for<0, num_events<Field>>([&]<int i>() { count += is_timed_event<Field, i> ? 1 : 0; });
    return count;
}();

}  // namespace detail

}  // namespace eddy::inline v0
