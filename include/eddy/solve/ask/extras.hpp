#pragma once
// What may follow the options of a call, in any order: a controller, a backend, a function of the
// state to save, the wish for derivatives with respect to times. Each is told by what it can do.
// Test: tests/compile_fail/solve_unknown_extra.cpp, tests/compile_fail/solve_two_controllers.cpp

#include <eddy/core/static_for.hpp>
#include <eddy/steppers/butcher_tableau.hpp>
#include <eddy/steppers/controller/constant.hpp>
#include <eddy/steppers/controller/joint.hpp>
#include <eddy/steppers/controller/pid.hpp>
#include <eddy/steppers/stochastic/columns.hpp>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

struct Cpu;  // backends/cpu.hpp: the backend where none is named, but see choose_machine.hpp

/// Saves function(t, y, p) where the state would be saved: a vector, or a number for one column.
template <class Function>
struct Observed {
    using function_type = Function;
};
/// The output function of a solve, after its options: `solve(field, method, y0, p, options,
/// observe(function))`. It is traced: pass an empty functor or a captureless lambda.
template <class Function>
[[nodiscard]] constexpr Observed<Function> observe(const Function&) {
    return {};
}

/// Asks for the derivatives with respect to t0, t1 and the save times as well.
struct DifferentiateTimes {};
/// Extra after the options: the derivatives with respect to t0, t1 and the save points as well.
inline constexpr DifferentiateTimes differentiate_times{};

/// Asks a gradient for an estimate of its own error, in its report: how far the embedded error
/// estimates of all steps together move it, to first order. About three times the work, and a second
/// text to compile.
struct EstimateGradientError {};
/// Extra after the options: the report estimates the error of the gradient.
inline constexpr EstimateGradientError estimate_gradient_error{};

namespace detail {

template <class T>
concept IsBackend = requires {
    typename T::backend_tag;
};
/// A backend around another one: processes that share the lanes, its ranks, each of which computes its own by `inner`.
template <class T>
concept IsOfRanks = IsBackend<T> && requires(const T& backend) {
    backend.inner;
    backend.ranks();
};
/// What computes: of a backend of ranks `inner`, or what they make of it.
template <class T>
[[nodiscard]] constexpr const T& computing(const T& extra) {
    return extra;
}
template <IsOfRanks T>
[[nodiscard]] constexpr auto computing(const T& backend) {
    if constexpr (requires { backend.computing(); })
        return backend.computing();
    else
        return backend.inner;
}
template <class T>
concept IsController = StepController<T, float>;
template <class T>
concept IsObserved = requires {
    typename T::function_type;
};
template <class T>
concept IsDifferentiateTimes = std::is_same_v<T, DifferentiateTimes>;
template <class T>
concept IsEstimateGradientError = std::is_same_v<T, EstimateGradientError>;

/// The first of the extras for which `Kind<T>::value` holds, or the default.
template <template <class> class Kind, class Default, class... Extras>
struct PickExtra {
    using type = Default;
};
template <template <class> class Kind, class Default, class First, class... Rest>
struct PickExtra<Kind, Default, First, Rest...> {
    using type = typename std::conditional_t<Kind<First>::value, std::type_identity<First>,
                                             PickExtra<Kind, Default, Rest...>>::type;
};

template <class T>
struct BackendKind : std::bool_constant<IsBackend<T>> {};
template <class T>
struct ControllerKind : std::bool_constant<IsController<T>> {};
template <class T>
struct ObservedKind : std::bool_constant<IsObserved<T>> {};

template <class Method>
inline constexpr bool has_error_estimate = Method::has_error_estimate;
template <RungeKuttaMethod Method>
inline constexpr bool has_error_estimate<Method> = [] {
    for (double e : Method::tableau.b_error) {
        if (e != 0) return true;
    }
    return false;
}();

/// What messages call a solve by this method.
template <class Method>
inline constexpr const char* call_of = "solve";
template <class Method>
requires requires { Method::call; }
inline constexpr const char* call_of<Method> = Method::call;

template <class Field, class Method>
struct ControllerOf {
    using type = std::conditional_t<has_error_estimate<Method>, PIDController, ConstantController>;
};
template <class Field, class Method>
requires(!StochasticField<Field> &&
         requires { typename Method::Controller; }) struct ControllerOf<Field, Method> {
    using type = typename Method::Controller;
};
/// The default with noise is constant steps: smaller ones seldom buy what they cost.
template <StochasticField Field, class Method>
struct ControllerOf<Field, Method> {
    using type = ConstantController;
};
/// The one that the method names, else an adaptive controller where it can estimate its error.
template <class Field, class Method>
using DefaultController = typename ControllerOf<Field, Method>::type;

/// Takes an extra of the type that is wanted, and no other one.
template <class T>
constexpr void take_extra(T& picked, const T& extra) {
    picked = extra;
}
template <class T, class Extra>
constexpr void take_extra(T&, const Extra&) {}
template <class T, class... Extras>
[[nodiscard]] constexpr T extra_or_default(const Extras&... extras) {
    T picked{};
    (take_extra(picked, extras), ...);
    return picked;
}

template <class T>
inline constexpr bool is_extra = IsBackend<T> || IsController<T> || IsObserved<T> ||
                                 IsDifferentiateTimes<T> || IsEstimateGradientError<T>;

/// The types of a call's extras.
template <class Field, class Method, class... Extras>
struct ExtrasOf {
    using Named = typename PickExtra<BackendKind, Cpu, Extras...>::type;
    using Backend = std::remove_cvref_t<decltype(computing(std::declval<const Named&>()))>;
    static constexpr bool names_backend = (IsBackend<Extras> || ...),
                          has_ranks = (IsOfRanks<Extras> || ...);
    using Controller =
        typename PickExtra<ControllerKind, DefaultController<Field, Method>, Extras...>::type;
    using Function =
        typename PickExtra<ObservedKind, Observed<void>, Extras...>::type::function_type;
    static constexpr bool with_times = (IsDifferentiateTimes<Extras> || ...);
    static constexpr bool estimates_error = (IsEstimateGradientError<Extras> || ...);
};

}  // namespace detail

}  // namespace eddy::inline v0
