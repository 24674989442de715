#pragma once
// What a call is given, by type: each mistake is one sentence, said before anything else is
// instantiated. Each check is true where nothing is wrong.
// Test: tests/compile_fail/solve_no_method.cpp, tests/compile_fail/solve_unknown_extra.cpp

#include <eddy/solve/ask/auto_switch.hpp>
#include <eddy/solve/ask/check_combination.hpp>
#include <eddy/solve/ask/check_event.hpp>
#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/ask/extras.hpp>
#include <eddy/solve/ask/memory.hpp>
#include <eddy/solve/ask/missing.hpp>
#include <eddy/solve/ask/parameter_table.hpp>
#include <eddy/solve/ask/parameters_given.hpp>
#include <eddy/solve/lane/objective.hpp>
#include <eddy/steppers/mass_matrix.hpp>
#include <eddy/steppers/stochastic/check_field.hpp>
#include <eddy/steppers/stochastic/kinetic_term.hpp>
#include <eddy/steppers/term.hpp>
#include <eddy/trace/field.hpp>
#include <type_traits>
#include <vector>

namespace eddy::inline v0::detail {

/// A tableau, or a method that brings a stepper along.
template <class Method>
inline constexpr bool is_method = RungeKuttaMethod<Method> || requires {
    Method::has_error_estimate;
};

/// Drift and diffusion without a word on what they mean.
template <class Field>
inline constexpr bool lacks_calculus = false;
template <class Field>
requires(!StochasticField<Field> &&
         requires(const Field& field, ArgumentOf<Scalar> t, ArgumentOf<Vector<Field::state_size>> y,
                  ArgumentOf<Vector<Field::parameter_size>> p) {
             field.drift(t, y, p);
             field.diffusion(t, y, p);
         }) inline constexpr bool lacks_calculus<Field> = true;

/// A vector field, or a stochastic one.
template <class Field>
consteval bool check_equation() {
    static_assert(!lacks_calculus<Field>,
                  "stochastic field: a member `static constexpr auto calculus = eddy::ito`, or "
                  "eddy::stratonovich, is missing; it says what diffusion dW means");
    if constexpr (lacks_calculus<Field>)
        return false;
    else if constexpr (StochasticField<Field>)
        return check_stochastic_field<Field>();
    else if constexpr (KineticField<Field>)
        return check_kinetic_field<Field>();
    else
        return check_program<Field>();
}

template <class Field, class Extra>
inline constexpr bool is_right_extra = true;
/// What is saved in place of the state.
template <class Field, class Function>
inline constexpr bool is_right_extra<Field, Observed<Function>> = [] {
    static_assert(is_stateless<Function>,
                  "observe: the function must be an empty functor or a captureless lambda; pass "
                  "values as parameters");
    if constexpr (is_stateless<Function>) {
        constexpr bool callable = is_traceable<Function, Scalar, Vector<Field::state_size>,
                                               Vector<Field::parameter_size>>;
        static_assert(callable,
                      "observe: the function must be callable as function(t, y, p) with arguments "
                      "of any type: take them as auto and const auto&");
        if constexpr (callable)
            return check_traced<Function, Scalar, Vector<Field::state_size>,
                                Vector<Field::parameter_size>>();
    }
    return false;
}();

/// Checks the extras of a call: each is one that solve takes, and at most one of each kind is given.
template <class Field, class... Extras>
consteval bool check_extras() {
    constexpr bool once = (0 + ... + IsController<Extras>) < 2 &&
                          (0 + ... + IsBackend<Extras>) < 2 && (0 + ... + IsObserved<Extras>) < 2;
    static_assert(once, "solve: two controllers, two backends or two observe(function); give one");
    return once && (is_right_extra<Field, Extras> && ...);
}

/// Systems of stages, where there are any; of an AutoSwitch those of its second method.
template <class Field, class Method>
consteval bool check_stages() {
    if constexpr (is_auto_switch<Method>) {
        return check_stages<Field, typename Method::Second>();
    } else {
        using Stepper = StepperFor<TermOf<Field>, Method, false>;
        if constexpr (requires { Stepper::check_systems(); }) return Stepper::check_systems();
        return true;
    }
}

/// Is the derivative of the right-hand side, written out, no longer than compilers have memory for? Asked of steps
/// that read it itself, before they are made.
template <CallKind kind, class Y0, class Field, class Method, class Choice>
consteval bool check_derivative() {
    if constexpr (goes_back(kind) && family_of<Field, Method> == Family::explicit_rk &&
                  machine_for<Choice, Y0> != Machine::tiles)
        return check_length<FieldPullback<FieldProgram<Field>, Choice::with_times>>();
    return true;
}

/// Checks a call of which the first array is known, or none.
template <CallKind kind, class Y0, class Field, class Method, class... Extras>
consteval bool check_call() {
    static_assert(is_method<Method>,
                  "solve: the method must be a struct with an order and a tableau, such as Tsit5");
    static_assert(
        (is_extra<Extras> && ...),
        "solve: the arguments after the options can be a controller, a backend (Cpu{}, Tiles{}, "
        "Serial{}), observe(function), differentiate_times and estimate_gradient_error");
    if constexpr (check_equation<Field>() && is_method<Method> && (is_extra<Extras> && ...)) {
        if constexpr (check_extras<Field, Extras...>()) {
            using Choice = ExtrasOf<Field, Method, Extras...>;
            if constexpr (check_combination<kind, Y0, Field, Method, Choice>()) {
                if constexpr (check_mass_values<Field>() && check_event<Field>() &&
                              check_switch<Field, Method, Extras...>())
                    return check_stages<Field, Method>() &&
                           check_derivative<kind, Y0, Field, Method, Choice>();
            }
        }
    }
    return false;
}

template <class Field, class Method, class... Extras>
consteval bool check_solver() {
    return check_call<CallKind::solve, NoArrays, Field, Method, Extras...>();
}

template <class Y0, class Parameters>
consteval bool check_arrays() {
    constexpr bool takes_p =
        is_shared<Parameters> || is_ensemble_array<Parameters> || HasTable<Parameters>;
    static_assert(is_ensemble_array<Y0>,
                  "solve: y0 must be a (trajectory, component) array (Eigen::ArrayXXd, a map, an "
                  "EnsembleArray); a vector is one trajectory, and an expression must be evaluated "
                  "first: (a + b).eval()");
    static_assert(
        takes_p,
        "solve: p must be a (trajectory, component) array (Eigen::ArrayXXd, a map, an "
        "EnsembleArray), or eddy::shared(array) for one row that all trajectories use; an "
        "expression must be evaluated first: (a + b).eval()");
    if constexpr (is_ensemble_array<Y0> && takes_p) {
        using Real = EnsembleScalarOf<Y0>;
        constexpr bool same = std::is_same_v<Real, ParameterScalarOf<Parameters>>;
        constexpr bool known = std::is_floating_point_v<Real> && sizeof(Real) <= 8;
        static_assert(same, "solve: y0 and p must hold the same type of number");
        static_assert(!same || known, "solve: y0 and p must hold float or double");
        return same && known;
    }
    return false;
}

/// Tangents and directions: arrays like y0 and p; or none.
template <class Y0>
consteval bool check_tangents() {
    return true;
}
template <class Y0, class Y0Tangent, class PTangent>
consteval bool check_tangents() {
    if constexpr (is_ensemble_array<Y0> && check_arrays<Y0Tangent, PTangent>()) {
        constexpr bool same = std::is_same_v<EnsembleScalarOf<Y0>, EnsembleScalarOf<Y0Tangent>>;
        static_assert(same, "solve: tangents and directions must hold the type of number of y0");
        return same;
    }
    return false;
}

/// One array where there is one save point, else a std::vector of one for each.
template <class Arrays>
inline constexpr bool is_list_of_arrays = false;
template <class Array>
inline constexpr bool is_list_of_arrays<std::vector<Array>> = !std::is_arithmetic_v<Array>;

template <class Arrays>
struct EachArray {
    using type = Arrays;
};
template <class Arrays>
requires is_list_of_arrays<Arrays>
struct EachArray<Arrays> {
    using type = typename Arrays::value_type;
};

/// Data or cotangents beside numbers of type Real; a loss may have no data.
template <class Arrays, class Real>
requires std::is_same_v<Arrays, NoData>
consteval bool check_data() { return true; }
template <class Arrays, class Real>
consteval bool check_data() {
    using Array = typename EachArray<Arrays>::type;
    static_assert(
        !may_miss_values<Arrays>,
        "missing_as_nan: it is for the data of a loss; a cotangent of what counts nothing "
        "is 0");
    static_assert(
        is_ensemble_array<Array> || may_miss_values<Arrays>,
        "data and cotangents must be a (trajectory, observable) array, or a std::vector of one "
        "for each save point; an expression must be evaluated first: (a + b).eval()");
    if constexpr (is_ensemble_array<Array>) {
        constexpr bool same = std::is_same_v<EnsembleScalarOf<Array>, Real>;
        static_assert(same, "data and cotangents must hold the same type of number as y0 and p");
        return same;
    }
    return false;
}

/// Does the backend compute where the arrays lie?
template <class Backend, class... Arrays>
consteval bool check_reach() {
    using Reached = typename Backend::Memory;
    constexpr bool reached = ((
        std::is_same_v<Arrays, NoData> ||
        (is_of_host<MemoryOf<typename EachArray<Arrays>::type>> && takes_arrays_of_host<Reached>) ||
        std::is_same_v<MemoryOf<typename EachArray<Arrays>::type>, Reached>)&&...);
    static_assert(reached,
                  "solve: an array lies where the backend does not compute; copy it, or choose the "
                  "backend whose Memory is the array's: Cpu and Serial take arrays of the host");
    return reached;
}

template <class Field, class Loss>
consteval bool check_loss() {
    static_assert(is_stateless<Loss>,
                  "loss: the loss must be an empty functor or a captureless lambda; pass values as "
                  "data or parameters");
    if constexpr (is_stateless<Loss>) {
        constexpr bool callable = takes_data<Field, Loss> || takes_no_data<Field, Loss>;
        static_assert(callable,
                      "loss: the loss must be callable as loss(t, y, p, data), or as loss(t, y, p) "
                      "where there are no data, with arguments of any type: const auto&");
        if constexpr (callable) return LossTerm<Field, Loss>::returns_one_number();
    }
    return false;
}

template <CallKind kind, class Y0, class Field, class Method, class Loss, class... Extras>
consteval bool check_gradient() {
    if constexpr (check_call<kind, Y0, Field, Method, Extras...>())
        return check_loss<Field, Loss>();
    return false;
}

/// Is the loss called with the data that it takes?
template <class Field, class Loss, class Data>
consteval bool check_data_of_loss() {
    constexpr bool given = !std::is_same_v<Data, NoData>;
    static_assert(!given || takes_data<Field, Loss>,
                  "loss: this loss takes no data, loss(t, y, p): leave the data before y0 out");
    static_assert(given || !takes_data<Field, Loss>,
                  "loss: this loss takes data, loss(t, y, p, data): give them before y0");
    return given == takes_data<Field, Loss>;
}

}  // namespace eddy::inline v0::detail
