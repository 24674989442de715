#pragma once
// Vector fields: dy/dt = f(t, y, p). A field is an empty functor with `state_size` and
// `parameter_size`; its program has the arguments t (scalar), y and p and returns dy/dt. A field may be
// given in two parts, stiff(t, y, p) and non_stiff(t, y, p), instead: its program is that of their sum. One with
// `input_size` is f(t, y, p, u) or f(t, y, p, u, du): trace/inputs.hpp.
// Test: tests/trace/trace_graph.cpp, tests/ad/linear_model.cpp

#include <eddy/trace/field_parts.hpp>
#include <eddy/trace/inputs.hpp>
#include <eddy/trace/trace.hpp>

namespace eddy::inline v0 {

namespace detail {

template <class Field>
concept HasStateSize = requires {
    Field::state_size;
};
template <class Field>
concept HasParameterSize = requires {
    Field::parameter_size;
};

/// Says what is wrong with the inputs of a field, if it has any.
template <class Field>
consteval bool check_inputs() {
    if constexpr (HasInputs<Field>) {
        constexpr int size = input_size_of<Field>, degree = input_degree_of<Field>;
        constexpr bool are_sizes = size > 0 && degree >= 0 && degree <= 3;
        static_assert(are_sizes,
                      "vector field: input_size must be positive, and input_degree from 0 to 3");
        constexpr bool is_whole = !has_stiff_part<Field> && !has_non_stiff_part<Field>;
        static_assert(is_whole,
                      "vector field: stiff(t, y, p) and non_stiff(t, y, p) read no inputs; leave "
                      "input_size out, or give the sum of both as f(t, y, p, u)");
        if constexpr (are_sizes && is_whole) {
            using Driven = DrivenField<Field>;
            constexpr bool takes_u =
                Driven::template is_callable<false> || Driven::template is_callable<true>;
            static_assert(takes_u,
                          "vector field: a field with input_size must be callable as "
                          "f(t, y, p, u), or as f(t, y, p, u, du), with arguments of any type: "
                          "take them as auto and const auto&");
            return takes_u;
        }
        return false;
    }
    return true;
}

template <class Field>
consteval bool check_sizes() {
    static_assert(Field::state_size > 0, "vector field: state_size must be positive");
    static_assert(HasParameterSize<Field>,
                  "vector field: a member `static constexpr int parameter_size` is missing (0 "
                  "where there are no parameters)");
    if constexpr (Field::state_size > 0 && HasParameterSize<Field> && check_inputs<Field>()) {
        constexpr bool both = has_stiff_part<Field> == has_non_stiff_part<Field>;
        static_assert(
            both,
            "vector field: of stiff(t, y, p) and non_stiff(t, y, p) one is missing or not "
            "callable with arguments of any type; a field in parts needs both");
        using Read = Vector<program_parameters_of<Field>>;
        constexpr bool traceable =
            both && is_traceable<WholeOf<Field>, Scalar, Vector<Field::state_size>, Read>;
        static_assert(!both || traceable,
                      "vector field: the field must be callable as f(t, y, p) with arguments of "
                      "any type: take them as auto and const auto&, and write const after the "
                      "parameter list");
        if constexpr (traceable)
            return check_traced<WholeOf<Field>, Scalar, Vector<Field::state_size>, Read>();
    }
    return false;
}

/// Says in one sentence what is wrong with a field, before anything else looks at it; true where
/// nothing is.
template <class Field>
consteval bool check_field() {
    static_assert(is_stateless<Field>,
                  "vector field: the field must be an empty functor or a captureless lambda; pass "
                  "values as parameters");
    if constexpr (is_stateless<Field>) {
        static_assert(HasStateSize<Field>,
                      "vector field: a member `static constexpr int state_size` is missing; a "
                      "lambda gets one by eddy::field<state_size, parameter_size>(lambda)");
        if constexpr (HasStateSize<Field>) return check_sizes<Field>();
    }
    return false;
}

template <class Field>
struct FieldOf : TraceOf<WholeOf<Field>, Scalar, Vector<Field::state_size>,
                         Vector<program_parameters_of<Field>>> {
    /// Room for sixteen operations per component; only a larger field is traced twice.
    static constexpr int expected_nodes = 128 + 16 * Field::state_size;
};

}  // namespace detail

/// The program of a right-hand side: (t, y, p) → dy/dt. y and dy/dt have state_size components, p
/// has parameter_size.
template <class Field>
[[nodiscard]] constexpr auto trace_field(const Field&) {
    if constexpr (detail::check_field<Field>()) {
        using FieldProgram = Program<detail::FieldOf<Field>>;
        static_assert(FieldProgram::graph.outputs[0].size == Field::state_size,
                      "vector field: f(t, y, p) must return state_size components");
        return FieldProgram{};
    }
}

/// The program of a vector field, by type.
template <class Field>
using FieldProgram = decltype(trace_field(Field{}));

/// The field that a function of (t, y, p) is, such as a captureless lambda.
template <class Function, int state, int parameters>
struct FunctionField {
    static constexpr int state_size = state, parameter_size = parameters;

    template <class Time, class State, class Parameters>
    constexpr auto operator()(const Time& t, const State& y, const Parameters& p) const {
        return Function{}(t, y, p);
    }
};

/// The field that a function of (t, y, p, u) or (t, y, p, u, du) is: u has `inputs` components.
template <class Function, int state, int parameters, int inputs>
struct InputFunctionField {
    static constexpr int state_size = state, parameter_size = parameters, input_size = inputs;

    template <class... Arguments>
    constexpr auto operator()(const Arguments&... arguments) const requires requires {
        Function{}(arguments...);
    }
    { return Function{}(arguments...); }
};

/// A right-hand side from a captureless lambda, with the sizes of y and p, and of u where it reads inputs:
/// `field<2, 4>([](auto t, const auto& y, const auto& p) { … })`.
template <int state_size, int parameter_size, int input_size = 0, class Function>
[[nodiscard]] constexpr auto field(const Function&) {
    static_assert(detail::is_stateless<Function>,
                  "vector field: the field must be an empty functor or a captureless lambda; pass "
                  "values as parameters");
    if constexpr (detail::is_stateless<Function>) {
        if constexpr (input_size > 0)
            return InputFunctionField<Function, state_size, parameter_size, input_size>{};
        else
            return FunctionField<Function, state_size, parameter_size>{};
    }
}

namespace detail {

/// True for a field whose program is right as well; the program says what is not.
template <class Field>
consteval bool check_program() {
    if constexpr (check_field<Field>()) {
        using Traced = FieldProgram<Field>;
        return Traced::graph.error == TraceError::none &&
               Traced::graph.outputs[0].size == Field::state_size;
    }
    return false;
}

}  // namespace detail

}  // namespace eddy::inline v0
