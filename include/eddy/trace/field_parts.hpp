#pragma once
// What a field says of itself, asked of its type before anything is traced: whether it is given in two parts,
// stiff(t, y, p) and non_stiff(t, y, p), and whether it has a mass matrix.
// Test: tests/steppers/imex.cpp, tests/solve/dae.cpp

#include <eddy/trace/inputs.hpp>
#include <eddy/trace/trace_graph.hpp>
#include <type_traits>

namespace eddy::inline v0 {

/// Does the field say what multiplies dy/dt?
template <class Field>
inline constexpr bool has_mass = requires {
    Field::mass;
};

namespace detail {

/// Fields in two parts: each as a field of its own, and their sum.
template <class Field>
struct StiffPartOf {
    static constexpr int state_size = Field::state_size, parameter_size = Field::parameter_size;
    template <class Time, class State, class Parameters>
    constexpr auto operator()(const Time& t, const State& y,
                              const Parameters& p) const requires requires {
        Field{}.stiff(t, y, p);
    }
    { return Field{}.stiff(t, y, p); }
};
template <class Field>
struct NonStiffPartOf {
    static constexpr int state_size = Field::state_size, parameter_size = Field::parameter_size;
    template <class Time, class State, class Parameters>
    constexpr auto operator()(const Time& t, const State& y,
                              const Parameters& p) const requires requires {
        Field{}.non_stiff(t, y, p);
    }
    { return Field{}.non_stiff(t, y, p); }
};
template <class Field>
struct SumOfParts {
    template <class Time, class State, class Parameters>
    constexpr auto operator()(const Time& t, const State& y,
                              const Parameters& p) const requires requires {
        Field{}.stiff(t, y, p) + Field{}.non_stiff(t, y, p);
    }
    { return Field{}.stiff(t, y, p) + Field{}.non_stiff(t, y, p); }
};

template <class Field, class Function>
inline constexpr bool is_traceable_on =
    is_traceable<Function, Scalar, Vector<Field::state_size>, Vector<Field::parameter_size>>;
template <class Field>
inline constexpr bool has_stiff_part = is_traceable_on<Field, StiffPartOf<Field>>;
template <class Field>
inline constexpr bool has_non_stiff_part = is_traceable_on<Field, NonStiffPartOf<Field>>;

/// Is a field given in two parts? Then it is their sum.
template <class Field>
inline constexpr bool is_split = has_stiff_part<Field>&& has_non_stiff_part<Field>;
template <class Field>
using WholeOf = typename std::conditional_t<
    HasInputs<Field>, std::type_identity<DrivenField<Field>>,
    std::conditional_t<is_split<Field>, std::type_identity<SumOfParts<Field>>,
                       std::type_identity<Field>>>::type;

}  // namespace detail
}  // namespace eddy::inline v0
