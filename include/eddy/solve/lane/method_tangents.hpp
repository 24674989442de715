#pragma once
// Which methods and fields carry tangents in all directions along their steps, and by what.
// Test: tests/solve/all_sensitivities.cpp

#include <eddy/solve/lane/solve_spec.hpp>
#include <eddy/steppers/esdirk_tangents.hpp>
#include <eddy/steppers/rosenbrock_tangents.hpp>
#include <eddy/steppers/tangent_steps.hpp>

namespace eddy::inline v0::detail {

/// How the steps of a method carry tangents.
template <class Field, class Method, bool estimates_error, bool of_p>
struct TangentsOf {
    using type = TangentSteps<Field, Method, estimates_error, of_p>;
};
template <class Field, RosenbrockMethod Method, bool estimates_error, bool of_p>
struct TangentsOf<Field, Method, estimates_error, of_p> {
    using type = RosenbrockTangents<Field, Method, estimates_error, of_p>;
};
template <class Field, EsdirkMethod Method, bool estimates_error, bool of_p>
struct TangentsOf<Field, Method, estimates_error, of_p> {
    using type = EsdirkTangents<Field, Method, estimates_error, of_p>;
};

/// Are so many numbers of a field not too many to lie on the stack?
template <class Jacobians>
inline constexpr bool has_few_entries = Jacobians::num_of_y + Jacobians::num_of_p <= 512;

/// Fields and methods whose steps carry tangents in so many directions: not those with events, loops, a mass matrix or parts
/// that are taken apart, nor where the numbers would be too many.
template <class Field, class Method, int num_directions>
concept CarriesTangents =
    (RungeKuttaMethod<Method> || RosenbrockMethod<Method> ||
     EsdirkMethod<Method>)&&!splits_field<Field, Method> &&
    num_events<Field> == 0 && std::is_same_v<TermOf<Field>, OdeTerm<Field>> &&
    !has_mass<Field> && Field::state_size * num_directions <= 4096 &&
    FieldProgram<Field>::graph.num_loops() == 0 &&
    has_few_entries<FieldJacobians<FieldProgram<Field>, (Field::parameter_size > 0)>> &&
    (!RosenbrockMethod<Method> || (LinearModel<FieldProgram<Field>>::has_jacobian &&
                                   has_few_entries<StepBends<Field, (Field::parameter_size > 0)>>));
template <class Field, class Method, int num_directions>
inline constexpr bool carries_tangents = CarriesTangents<Field, Method, num_directions>;

}  // namespace eddy::inline v0::detail
