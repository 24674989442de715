#pragma once
// What a field says of events: a function whose roots they are, which of its crossings count, and the
// state afterwards, all members of the field,
//
//   constexpr auto event(auto t, const auto& y, const auto& p) const { … }      one number
//   static constexpr auto event_direction = eddy::Crossing::falling;            else either
//   constexpr auto at_event(auto t, const auto& y, const auto& p) const { … }   else the lane ends there
//
// and their programs, with pullbacks. Fields without `event` know nothing of all this.

#include <eddy/ad/vjp.hpp>
#include <eddy/core/vec.hpp>
#include <eddy/trace/field.hpp>
#include <type_traits>

namespace eddy::inline v0 {

/// How an event's function passes zero, in the order in which the solve passes through time.
enum class Crossing : unsigned char { either, rising, falling };

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

template <class Field>
struct EventOf {
    template <class Time, class State, class Parameters>
    constexpr auto operator()(const Time& t, const State& y,
                              const Parameters& p) const requires requires {
        Field{}.event(t, y, p);
    }
    { return Field{}.event(t, y, p); }
};
template <class Field>
struct JumpOf {
    template <class Time, class State, class Parameters>
    constexpr auto operator()(const Time& t, const State& y,
                              const Parameters& p) const requires requires {
        Field{}.at_event(t, y, p);
    }
    { return Field{}.at_event(t, y, p); }
};

/// Fields whose lanes may have events; and those whose lanes go on after them.
template <class Field>
inline constexpr bool has_event = [] {
    if constexpr (is_stateless<Field> && !std::is_final_v<Field>)
        return names_event<Field>;
    else
        return false;
}();
template <class Field>
inline constexpr bool has_jump = [] {
    if constexpr (has_event<Field>)
        return names_at_event<Field>;
    else
        return false;
}();

template <class Field>
inline constexpr Crossing crossing_of = [] {
    if constexpr (requires { Field::event_direction; })
        return Field::event_direction;
    else
        return Crossing::either;
}();

template <class Field, class Function>
using FunctionProgram =
    decltype(trace<Scalar, Vector<Field::state_size>, Vector<Field::parameter_size>>(Function{}));
template <class Program>
using WholePullback = decltype(vjp<0, 1, 2>(Program{}));

/// Does g pass zero in the wanted direction, from what it was to what it is? Not from zero.
template <Crossing wanted, class Time>
[[nodiscard, gnu::always_inline]] EDDY_HD inline auto crosses(const Time& before, const Time& now) {
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
    using Root = FunctionProgram<Field, EventOf<Field>>;

    template <class Number, class Time, class Parameters>
    [[nodiscard, gnu::always_inline]] EDDY_HD static Number value(const Time& t,
                                                                  const Vec<Number, state_size>& y,
                                                                  const Parameters& p) {
        Number g{};
        evaluate<Root, Number>(
            [&]<int output>(int, const Number& value) __attribute__((always_inline)) { g = value; },
            t, y, p);
        return g;
    }
    /// The derivatives of the event's function: that by t is returned, that by p handed to
    /// add_to_p(i, value).
    template <class Number, class Time, class Parameters, class AddToP>
    [[nodiscard]] EDDY_HD static Number derivatives(const Time& t, const Vec<Number, state_size>& y,
                                                    const Parameters& p,
                                                    Vec<Number, state_size>& by_y,
                                                    AddToP&& add_to_p) {
        Number by_t = convert<Number>(0);
        evaluate<WholePullback<Root>, Number>(
            [&]<int output>(int i, const Number& value) {
                if constexpr (output == 0)
                    by_t = value;
                else if constexpr (output == 1)
                    by_y.data[i] = value;
                else
                    add_to_p(i, value);
            },
            t, y, p, convert<Number>(1));
        return by_t;
    }

    /// The state after an event.
    template <class Number, class Time, class Parameters>
    [[nodiscard]] EDDY_HD static Vec<Number, state_size> jump(const Time& t,
                                                              const Vec<Number, state_size>& y,
                                                              const Parameters& p) {
        using Jump = FunctionProgram<Field, JumpOf<Field>>;
        Vec<Number, state_size> after{};
        evaluate<Jump, Number>(
            [&]<int output>(int i, const Number& value) { after.data[i] = value; }, t, y, p);
        return after;
    }
    /// Its pullback: the cotangent of the state before from that of the state after; that of t is
    /// returned, that of p handed to add_to_p(i, value).
    template <class Number, class Time, class Parameters, class AddToP>
    [[nodiscard]] EDDY_HD static Number pull_jump(const Time& t, const Vec<Number, state_size>& y,
                                                  const Parameters& p,
                                                  const Vec<Number, state_size>& of_after,
                                                  Vec<Number, state_size>& of_before,
                                                  AddToP&& add_to_p) {
        using Jump = FunctionProgram<Field, JumpOf<Field>>;
        Number of_t = convert<Number>(0);
        evaluate<WholePullback<Jump>, Number>(
            [&]<int output>(int i, const Number& value) {
                if constexpr (output == 0)
                    of_t = value;
                else if constexpr (output == 1)
                    of_before.data[i] = value;
                else
                    add_to_p(i, value);
            },
            t, y, p, of_after);
        return of_t;
    }
};

}  // namespace detail

}  // namespace eddy::inline v0
