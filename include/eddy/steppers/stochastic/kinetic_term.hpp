#pragma once
// Particles in a field of forces, with friction and the noise that belongs to it:
//
//     dx = v dt,   dv = force(t, x, p) dt − γ v dt + √(2 γ T) dW,   γ = friction(p), T = temperature(p)
//
// of unit mass, Langevin's equation. The state is (x, v); each component of v has a noise.
// Test: tests/solve/langevin.cpp

#include <eddy/steppers/brownian/brownian_path.hpp>
#include <eddy/steppers/term.hpp>
#include <eddy/trace/field.hpp>

namespace eddy::inline v0 {

namespace detail {

template <class Field>
using TracedTime = ArgumentOf<Scalar>;
template <class Field>
using TracedPositions = ArgumentOf<Vector<Field::state_size / 2>>;
template <class Field>
using TracedParameters = ArgumentOf<Vector<Field::parameter_size>>;

/// Has the field a force?
template <class Field>
concept KineticField = HasStateSize<Field> && HasParameterSize<Field> &&
    requires(const TracedTime<Field>& t, const TracedPositions<Field>& x,
             const TracedParameters<Field>& p) {
    Field{}.force(t, x, p);
};
template <class Field>
concept HasHeat = requires(const TracedParameters<Field>& p) {
    Field{}.friction(p);
    Field{}.temperature(p);
};

/// True where nothing is wrong with it.
template <KineticField Field>
consteval bool check_kinetic_field() {
    constexpr int size = Field::state_size / 2;
    using Force = decltype(Field{}.force(std::declval<const TracedTime<Field>&>(),
                                         std::declval<const TracedPositions<Field>&>(),
                                         std::declval<const TracedParameters<Field>&>()));
    constexpr bool has_pairs = Field::state_size % 2 == 0 && size > 0;
    constexpr bool fits = shape_of<Force> == size;
    static_assert(has_pairs,
                  "kinetic field: the state is (x, v), positions and then as many velocities: "
                  "state_size must be even");
    static_assert(!has_pairs || fits,
                  "kinetic field: force(t, x, p) must return a component for each of x, half of "
                  "state_size");
    static_assert(
        HasHeat<Field>,
        "kinetic field: friction(p) and temperature(p) are needed as well, a number each");
    return has_pairs && fits && HasHeat<Field>;
}

}  // namespace detail

/// The term of a field with `force`, `friction` and `temperature`.
template <class FieldType>
struct KineticTerm {
    using Field = FieldType;
    static constexpr int state_size = Field::state_size;
    static constexpr int parameter_size = Field::parameter_size;
    static constexpr int num_noises = state_size / 2;
    template <class Time>
    using Path = BrownianPath<Time>;
};

namespace detail {

template <KineticField Field>
struct ChosenTerm<Field> {
    using type = KineticTerm<Field>;
};

template <class Term>
inline constexpr bool is_kinetic = false;
template <class Field>
inline constexpr bool is_kinetic<KineticTerm<Field>> = true;

}  // namespace detail
}  // namespace eddy::inline v0
