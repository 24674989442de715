#pragma once
// Vector fields: dy/dt = f(t, y, p). A field is an empty functor with `state_size` and
// `parameter_size`; its program has the arguments t (scalar), y and p and returns dy/dt.

#include <eddy/trace/evaluate.hpp>

namespace eddy {

namespace detail {

template <class Field>
concept HasStateSize = requires {
    Field::state_size;
};
template <class Field>
concept HasParameterSize = requires {
    Field::parameter_size;
};

template <class Field>
consteval int state_size_of() {
    static_assert(HasStateSize<Field>,
                  "vector field: a member `static constexpr int state_size` is missing");
    if constexpr (HasStateSize<Field>) {
        static_assert(Field::state_size > 0, "vector field: state_size must be positive");
        return Field::state_size > 0 ? Field::state_size : 1;
    }
    return 1;
}
template <class Field>
consteval int parameter_size_of() {
    static_assert(HasParameterSize<Field>,
                  "vector field: a member `static constexpr int parameter_size` is missing (0 "
                  "where there are no parameters)");
    if constexpr (HasParameterSize<Field>) return Field::parameter_size;
    return 0;
}

template <class Field>
struct FieldOf
    : TraceOf<Field, Scalar, Vector<state_size_of<Field>()>, Vector<parameter_size_of<Field>()>> {
    /// Room for sixteen operations per component; only a larger field is traced twice.
    static constexpr int expected_nodes = 128 + 16 * state_size_of<Field>();
};

}  // namespace detail

/// The program of a vector field: (t, y, p) → dy/dt, with y and dy/dt of state_size and p of
/// parameter_size components.
template <class Field>
[[nodiscard]] constexpr auto trace_field(const Field&) {
    using FieldProgram = Program<detail::FieldOf<Field>>;
    static_assert(FieldProgram::graph.outputs[0].size == detail::state_size_of<Field>(),
                  "vector field: f(t, y, p) must return state_size components");
    return FieldProgram{};
}

/// The program of a vector field, by type.
template <class Field>
using FieldProgram = decltype(trace_field(Field{}));

}  // namespace eddy
