#pragma once
// Where trajectories come to rest: f(y, p) = 0, found for every lane from its own start, with the
// derivatives of the implicit function. A solve that ends where it begins, at a start that the equation
// itself determines (steppers/steady_start.hpp).
// Test: tests/solve/steady_state.cpp

#include <eddy/solve/call/solve.hpp>
#include <eddy/steppers/staying_stepper.hpp>
#include <eddy/steppers/steady_start.hpp>
#include <eddy/steppers/step_matrix.hpp>
#include <type_traits>

namespace eddy::inline v0 {

/// Options of `steady_state`.
struct SteadyStateOptions {
    /// Relative tolerance. A state is steady if a Newton step would move no component by more than
    /// rtol |y| + atol. Newton's method then refines it to rounding error. Components that approach
    /// 0 need an atol above 0.
    double rtol = 1e-6;
    Tolerance atol = 1e-9;  ///< absolute tolerance, in the unit of y
    /// Steps of one trajectory, accepted or rejected: of pseudo-transient continuation up to 250, or
    /// half, then of the integration.
    std::int64_t max_steps = 1000;
};

namespace detail {

template <class Field>
consteval bool has_steady_states() {
    using Model = LinearModel<FieldProgram<SteadyField<Field>>>;
    static_assert(!Model::depends_on_time,
                  "steady_state: the field depends on t, and does not come to rest; give its times "
                  "as parameters");
    constexpr bool is_isolated = may_have_index_one<Model, MassMatrix<SteadyField<Field>>>();
    static_assert(is_isolated,
                  "steady_state: its pattern of zeros makes the field's Jacobian singular: some "
                  "component has no equation of its own; replace one by an algebraic equation, see "
                  "docs/guide/steady_states.md");
    return !Model::depends_on_time && is_isolated;
}
template <class Field, class... Extras>
consteval bool check_steady_state() {
    static_assert(!StochasticField<Field>,
                  "steady_state: stochastic equations do not come to rest; give a vector field");
    if constexpr (!StochasticField<Field>) {
        if constexpr (check_program<Field>() && check_mass_values<Field>() &&
                      check_solver<SteadyField<Field>, Staying, Extras...>())
            return has_steady_states<Field>();
    }
    return false;
}

}  // namespace detail

/// Finds the steady state of dy/dt = field(t, y, p), or of M dy/dt, that each trajectory approaches
/// from its row of y0.
/// It returns what `solve` returns, with one save point: y(0), result and stats, and `pullback`
/// takes it. The gradient with respect to y0 is zero. A backend and `observe(function)` may follow
/// the options.
/// Steps of pseudo-transient continuation (Kelley & Keyes 1998) lead there. Where they do not arrive,
/// the trajectory is integrated, and `switched(lane)` is true.
/// With a conserved quantity the steady state is not isolated. The trajectory then ends as
/// `singular_matrix`.
template <class Field, class Y0, class Parameters, class... Extras>
[[nodiscard]] auto steady_state(const Field&, const Y0& y0, const Parameters& p,
                                const SteadyStateOptions& options, const Extras&... extras) {
    if constexpr (detail::check_steady_state<Field, Extras...>()) {
        SolveOptions of_solve{.t0 = 0, .t1 = 0, .rtol = options.rtol, .atol = options.atol};
        of_solve.dt0 = 1;
        of_solve.max_steps = options.max_steps;
        return solve(SteadyField<Field>{}, Staying{}, y0, p, of_solve, extras...);
    }
}
template <class Field, class Y0, class Parameters>
[[nodiscard]] auto steady_state(const Field& field, const Y0& y0, const Parameters& p) {
    return steady_state(field, y0, p, SteadyStateOptions{});
}
/// Refuses any other type in the place of the options, such as those of a solve, or a backend.
template <class Field, class Y0, class Parameters, class Other, class... Extras>
requires(!std::is_convertible_v<const Other&, const SteadyStateOptions&>) auto steady_state(
    const Field&, const Y0&, const Parameters&, const Other&, const Extras&...) {
    static_assert(std::is_convertible_v<const Other&, const SteadyStateOptions&>,
                  "steady_state: its options, which have no times, are SteadyStateOptions{.rtol, "
                  ".atol, .max_steps}; give them, or {}, after p, then a backend or "
                  "observe(function)");
}

}  // namespace eddy::inline v0
