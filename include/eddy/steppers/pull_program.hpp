#pragma once
// The way back through a program of (t, y, p, …) that a stepper is made of: the field, or a step as a whole.
// Test: tests/steppers/rosenbrock.cpp, tests/steppers/stochastic.cpp

#include <eddy/ad/vjp.hpp>
#include <eddy/core/numeric.hpp>
#include <eddy/core/vec.hpp>
#include <eddy/trace/evaluate.hpp>

namespace eddy::inline v0::detail {

/// Adds to component i of a cotangent that is a vector, or that adds in a way of its own.
template <class Cotangent, class Number>
EDDY_INLINE EDDY_HD constexpr void accumulate(Cotangent& cotangent, int i, const Number& value) {
    if constexpr (requires { cotangent.add(i, value); }) {
        cotangent.add(i, value);
    } else {
        cotangent[i] = cotangent[i] + value;
    }
}

/// The cotangent of y into `y_cotangent`, that of p added to `p_cotangent`; that of t is returned, zero unless
/// `of_time`: what `Pullback` gives begins with it then.
template <class Pullback, bool of_time, class Number, int size, class ParameterCotangent,
          class... Arguments>
EDDY_INLINE EDDY_HD inline Number pull_program(Vec<Number, size>& y_cotangent,
                                               ParameterCotangent& p_cotangent,
                                               const Arguments&... arguments) {
    Number t_cotangent = convert<Number>(0);
    evaluate<Pullback, Number>(
        summing<of_time + 1>([&]<int output>(int component, const Number& value) EDDY_INLINE {
            constexpr int argument = of_time ? output : output + 1;
            if constexpr (argument == 0)
                t_cotangent = value;
            else if constexpr (argument == 1)
                y_cotangent.data[component] = value;
            else
                accumulate(p_cotangent, component, value);
        }),
        arguments...);
    return t_cotangent;
}
/// The cotangent of y through a program; that of p is added.
template <class Program, class State, class ParameterCotangent, class... Arguments>
[[nodiscard]] EDDY_INLINE EDDY_HD inline State pull_state(ParameterCotangent& p_cotangent,
                                                          const Arguments&... arguments) {
    State y_cotangent{};
    pull_program<decltype(vjp<1, 2>(Program{})), false>(y_cotangent, p_cotangent, arguments...);
    return y_cotangent;
}

}  // namespace eddy::inline v0::detail
