#pragma once
// Calls of an equation whose sizes are known when the program runs. Nothing is compiled for it but the views
// of the arrays: the loop, the method and the controller are the library's.
// Test: tests/backends/row_solve.cpp

#include <eddy/backends/kept_threads.hpp>
#include <eddy/backends/rows/row_ask.hpp>
#include <eddy/backends/rows/row_objects.hpp>
#include <eddy/solve/call/called_once.hpp>

namespace eddy::inline v0 {

/// Where calls of equations whose sizes are known when the program runs are computed: blocks of trajectories
/// over threads. It is the default of those calls. An equation that is a functor is traced when the program runs.
struct Rows {
    struct backend_tag {};
    static constexpr auto machine = detail::Machine::rows;

    int threads = 0;  ///< number of threads; 0: as many as this process may run at once

    void require_valid(const char* where) const { detail::require_threads(threads, "Rows", where); }
};

/// `solve` of an equation whose sizes are known when the program runs, as an object that keeps its memory
/// and its threads: `solver(y0, p)`.
template <class Field, class Method, class... Extras>
requires detail::GoesOverRows<Field, Extras...>
[[nodiscard]] auto ensemble_solver(const Field& field, const Method& method,
                                   const SolveOptions& options, const Extras&... extras) {
    if constexpr (detail::check_on_rows<detail::CallKind::solve, Field, Method, Extras...>())
        return detail::RowSolver(detail::row_call(field, method, options, "solve", extras...));
}
/// `value_and_gradient` of such an equation, as an object that keeps its memory and its threads:
/// `solver(data, y0, p)`.
template <class Field, class Method, class LossFunction, class... Extras>
requires detail::GoesOverRows<Field, Extras...>
[[nodiscard]] auto gradient_solver(const Field& field, const Method& method,
                                   const LossFunction& loss, const SolveOptions& options,
                                   const Extras&... extras) {
    if constexpr (detail::check_on_rows<detail::CallKind::gradient, Field, Method, Extras...>())
        return detail::RowGradientSolver<LossFunction>(
            detail::row_call(field, method, options, "value_and_gradient", extras...), loss);
}
/// `pullback` of such an equation, as an object that keeps its memory and its threads:
/// `solver(cotangents, y0, p)`.
template <class Field, class Method, class... Extras>
requires detail::GoesOverRows<Field, Extras...>
[[nodiscard]] auto pullback_solver(const Field& field, const Method& method,
                                   const SolveOptions& options, const Extras&... extras) {
    if constexpr (detail::check_on_rows<detail::CallKind::pullback, Field, Method, Extras...>())
        return detail::RowPullbackSolver(
            detail::row_call(field, method, options, "pullback", extras...));
}

/// Solves an equation whose sizes are known when the program runs, for each trajectory of an ensemble: as
/// `solve` of a functor, with the same steps and bits, by explicit Runge–Kutta methods.
template <class Field, class Method, class Y0, class Parameters, class... Extras>
requires detail::GoesOverRows<Field, Extras...>
[[nodiscard]] auto solve(const Field& field, const Method& method, const Y0& y0,
                         const Parameters& p, const SolveOptions& options,
                         const Extras&... extras) {
    if constexpr (detail::check_on_rows<detail::CallKind::solve, Field, Method, Extras...>() &&
                  detail::check_arrays_on_rows<Y0, Parameters>()) {
        detail::RowCall call = detail::row_call(field, method, options, "solve", extras...);
        const auto start = detail::start_of<Y0>(call.field->sizes());
        return RowSolutionOf<detail::NumberOnRows<Parameters>>(std::move(call),
                                                               detail::row_arrays(y0, p, start));
    }
}

/// Reverse mode: the gradients with respect to y0 and p of a solution that `solve` returned. `cotangents`
/// are the derivatives of your loss with respect to each saved state: one (trajectory, component) array for
/// one save point, else one for each. `cancelled` cancels this call, in place of the token of the solution's options.
template <class Real, class Arrays>
[[nodiscard]] PulledGradient<Real> pullback(const RowSolutionOf<Real>& solution,
                                            const Arrays& cotangents,
                                            const Cancellation& cancelled = {}) {
    detail::RowViews<Real> views;
    detail::take_views(views, cotangents);
    return solution.pull_back(std::move(views), cancelled);
}

/// `sensitivities` of such an equation, as an object that keeps its memory and its threads: `solver(y0, p)`.
template <class Field, class Method, bool of_p, bool of_y0, class... Extras>
requires detail::GoesOverRows<Field, Extras...>
[[nodiscard]] auto sensitivity_solver(const Field& field, const Method& method,
                                      const SolveOptions& options, Along<of_p, of_y0>,
                                      const Extras&... extras) {
    if constexpr (detail::check_on_rows<detail::CallKind::pushforward, Field, Method,
                                        Extras...>()) {
        require_argument(!options.save_steps,
                         "sensitivities: save_steps = true; leave it out, and ask solve for the "
                         "steps, which are the same");
        return detail::RowSensitivitySolver<Along<of_p, of_y0>>(
            detail::row_call(field, method, options, "sensitivities", extras...));
    }
}
/// Forward mode: the solution of an equation whose sizes are known when the program runs, and its derivative in the
/// direction (y0_tangent, p_tangent), which has the shapes of y0 and p. States and steps are those of `solve`.
template <class Field, class Method, class Y0, class Parameters, class Y0Tangent, class PTangent,
          class... Extras>
requires detail::GoesOverRows<Field, Extras...>
[[nodiscard]] auto pushforward(const Field& field, const Method& method, const Y0& y0,
                               const Parameters& p, const Y0Tangent& y0_tangent,
                               const PTangent& p_tangent, const SolveOptions& options,
                               const Extras&... extras) {
    if constexpr (detail::check_on_rows<detail::CallKind::pushforward, Field, Method,
                                        Extras...>()) {
        auto solver = ensemble_solver(field, method, options, extras...);
        return std::move(solver(y0, p, y0_tangent, p_tangent));
    }
}
}  // namespace eddy::inline v0
