#pragma once
// The way back through a program of (t, y, p, …) that a stepper is made of: the field, or a step as a whole.
// Test: tests/steppers/rosenbrock.cpp, tests/steppers/stochastic.cpp

#include <eddy/steppers/term.hpp>

namespace eddy::inline v0::detail {

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

}  // namespace eddy::inline v0::detail
