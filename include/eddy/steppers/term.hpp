#pragma once
// What is integrated: a term says which function stands on the right-hand side, and what besides the
// state a step of it reads. A stepper is made of a term and a method.

#include <eddy/core/vec.hpp>
#include <eddy/trace/field.hpp>

namespace eddy::inline v0 {

/// The path of a term that has no noise.
struct NoPath {};

/// Which lanes make a step, and over which interval: what a path of noise is a pure function of, so
/// that a replayed step meets the noise of the first. Each place has its own.
template <class Time>
struct StepInterval {
    Time lane;     // number of the trajectory
    Time elapsed;  // |t − t0| where the step begins
    Time size;     // |dt|
};

/// dy/dt = f(t, y, p).
template <class FieldType>
struct OdeTerm {
    using Field = FieldType;
    static constexpr int state_size = Field::state_size;
    static constexpr int parameter_size = Field::parameter_size;
    template <class Time>
    using Path = NoPath;

    /// dy/dt. `p` is anything with operator[].
    template <class Time, class Number, class Parameters>
    [[nodiscard, gnu::always_inline]] EDDY_HD static constexpr Vec<Number, state_size> derivative(
        const Time& t, const Vec<Number, state_size>& y, const Parameters& p) {
        Vec<Number, state_size> k{};
        evaluate<FieldProgram<Field>, Number>(
            [&]<int output>(int component, const Number& value)
                __attribute__((always_inline)) { k.data[component] = value; },
            t, y, p);
        return k;
    }
};

namespace detail {

template <class Field>
struct ChosenTerm {
    using type = OdeTerm<Field>;
};
template <class Field>
requires requires { typename Field::term; }
struct ChosenTerm<Field> {
    using type = typename Field::term;
};

}  // namespace detail

/// The term of what a call is given as its equation: that of a vector field, unless the type names
/// another as `term`. A term's Path<Time> is NoPath, or made from a StepInterval<Time>.
template <class Field>
using TermOf = typename detail::ChosenTerm<Field>::type;

}  // namespace eddy::inline v0
