#pragma once
// Two methods for trajectories of which some may be stiff. The first pass solves all by an explicit
// method, and a check of some attempts finds where stability bounds the steps. Those trajectories leave,
// and a second pass solves them from t0 by a method for stiff equations. In packs both methods at once
// would cost their sum; and a trajectory of only one method has one dense output and one adjoint.
// Test: tests/solve/auto_switch.cpp

#include <eddy/solve/ask/ensemble_array.hpp>
#include <eddy/solve/ask/extras.hpp>
#include <eddy/solve/ask/validate.hpp>
#include <eddy/steppers/explicit_rk_stepper.hpp>
#include <eddy/steppers/stepper.hpp>
#include <type_traits>

namespace eddy::inline v0 {

/// A pair of methods, one non-stiff and one stiff: `AutoSwitch{Tsit5{}, Rodas5P{}}`. Each
/// trajectory whose steps stability limits is solved from t0 by the second method:
/// `solution.switched(lane)`. All others are solved by the first.
/// Each trajectory has exactly the states, statistics and gradients of its method. The choice
/// depends only on the trajectory, not on others of the ensemble.
template <class FirstMethod, class SecondMethod>
struct AutoSwitch {
    using First = FirstMethod;
    using Second = SecondMethod;
    static constexpr bool has_error_estimate = true, takes_noise = false;

    [[no_unique_address]] First first{};
    [[no_unique_address]] Second second{};

    constexpr AutoSwitch() = default;
    constexpr AutoSwitch(const First& for_all, const Second& for_stiff)
        : first(for_all), second(for_stiff) {}

    void require_valid(const char* where) const {
        detail::require_valid_method(first, where);
        detail::require_valid_method(second, where);
    }

    /// The stepper of the first pass.
    template <class Term, bool estimates_error>
    using Stepper = StepperFor<Term, First, estimates_error>;
    /// The method whose steps the first pass takes.
    using Plain = First;
};

namespace detail {

template <class Method>
inline constexpr bool is_auto_switch = false;
template <class First, class Second>
inline constexpr bool is_auto_switch<AutoSwitch<First, Second>> = true;

/// May lanes of a solve be sent to a second method?
template <class Spec>
inline constexpr bool switches = is_auto_switch<typename Spec::Method>;

/// The controllers of both methods where the caller gives none: that of the first, with the other.
template <class First, class Second>
struct DefaultsOfBoth : First {
    Second of_second{};
};
template <class Field, class First, class Second>
requires(!StochasticField<Field>) struct ControllerOf<Field, AutoSwitch<First, Second>> {
    using type = DefaultsOfBoth<DefaultController<Field, First>, DefaultController<Field, Second>>;
};
/// The controller of the second method: its default, or what the caller gives for both.
template <class Controller>
[[nodiscard]] Controller controller_of_second(const Controller& controller) {
    return controller;
}
template <class First, class Second>
[[nodiscard]] Second controller_of_second(const DefaultsOfBoth<First, Second>& controllers) {
    return controllers.of_second;
}

/// A method with an error estimate whose steps solve linear systems.
template <class Field, class Method>
concept IsForStiffEquations = requires {
    requires !Method::takes_noise && Method::has_error_estimate;
}
&&!is_auto_switch<Method> && SolvesLinearSystems<StepperFor<TermOf<Field>, Method, true>>;
/// An explicit method whose steps tell of stiffness.
template <class Field, class Method>
concept TellsOfStiffness = RungeKuttaMethod<Method> &&
    TellsStiffness<StepperFor<TermOf<Field>, Method, has_error_estimate<Method>>>;

/// Two methods that fit, and a controller that adapts sizes.
template <class Field, class Method, class... Extras>
consteval bool check_switch() {
    if constexpr (is_auto_switch<Method>) {
        constexpr bool fit = TellsOfStiffness<Field, typename Method::First> &&
                             IsForStiffEquations<Field, typename Method::Second>;
        static_assert(fit,
                      "AutoSwitch: the first method must be an explicit tableau of three stages or "
                      "more with an error estimate and the second one for stiff equations, such as "
                      "AutoSwitch{Tsit5{}, Rodas5P{}}");
        if constexpr (fit) {
            using Choice = ExtrasOf<Field, Method, Extras...>;
            constexpr bool adapts = !requires { requires !Choice::Controller::is_adaptive; };
            static_assert(adapts,
                          "AutoSwitch: stiffness is detected from adaptive step sizes; give a "
                          "controller that adapts them, or none");
            return adapts;
        }
        return false;
    }
    return true;
}

}  // namespace detail

}  // namespace eddy::inline v0
