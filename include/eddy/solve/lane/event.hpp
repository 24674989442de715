#pragma once
// The functions that a field has of events (lane/event_members.hpp) as programs, with pullbacks.
// Test: tests/solve/events.cpp

#include <eddy/ad/vjp.hpp>
#include <eddy/core/static_for.hpp>
#include <eddy/core/vec.hpp>
#include <eddy/solve/lane/event_members.hpp>
#include <eddy/trace/evaluate.hpp>
#include <type_traits>

namespace eddy::inline v0 {

namespace detail {

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

/// Does this event end a lane? Its number is known only when the program runs.
template <class Field>
[[nodiscard]] EDDY_HD bool is_terminal_at(int event) {
    bool ends = false;
    static_for<0, num_events<Field>>(
        [&]<int i>() { ends = ends || (is_terminal<Field>(i) && event == i); });
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
    return wanted == Crossing::falling ? falls : wanted == Crossing::rising ? rises : falls | rises;
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
