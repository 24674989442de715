#pragma once
// Calls of an equation whose sizes are known when the program runs. Nothing is compiled for it but the views
// of the arrays: the loop, the method and the controller are the library's.
// Test: tests/backends/row_solve.cpp

#include <eddy/backends/kept_threads.hpp>
#include <eddy/backends/rows/row_ask.hpp>
#include <eddy/backends/rows/row_objects.hpp>

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

/// The sum of loss(t, y, p, data) over all save points of an equation whose sizes are known when the program
/// runs, for each trajectory and in total, and its gradients with respect to y0 and p. The loss may capture
/// what is constant.
template <class Field, class Method, class LossFunction, class Data, class Y0, class Parameters,
          class... Extras>
requires detail::GoesOverRows<Field, Extras...>
[[nodiscard]] auto value_and_gradient(const Field& field, const Method& method,
                                      const LossFunction& loss, const Data& data, const Y0& y0,
                                      const Parameters& p, const SolveOptions& options,
                                      const Extras&... extras) {
    if constexpr (detail::check_on_rows<detail::CallKind::gradient, Field, Method, Extras...>()) {
        auto solver = gradient_solver(field, method, loss, options, extras...);
        return std::move(solver(data, y0, p));
    }
}
/// The gradient for a loss without data, loss(t, y, p).
template <class Field, class Method, class LossFunction, class Y0, class Parameters,
          class... Extras>
requires detail::GoesOverRows<Field, Extras...>
[[nodiscard]] auto value_and_gradient(const Field& field, const Method& method,
                                      const LossFunction& loss, const Y0& y0, const Parameters& p,
                                      const SolveOptions& options, const Extras&... extras) {
    return value_and_gradient(field, method, loss, detail::WithoutData{}, y0, p, options,
                              extras...);
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
template <class Field, class Method, class... Extras>
requires detail::GoesOverRows<Field, Extras...>
[[nodiscard]] auto sensitivity_solver(const Field& field, const Method& method,
                                      const SolveOptions& options, const Extras&... extras) {
    return sensitivity_solver(field, method, options, along_parameters, extras...);
}
/// The solution of such an equation, and all of its derivatives with respect to the parameters, to y0, or to both.
template <class Field, class Method, class Y0, class Parameters, bool of_p, bool of_y0,
          class... Extras>
requires detail::GoesOverRows<Field, Extras...>
[[nodiscard]] auto sensitivities(const Field& field, const Method& method, const Y0& y0,
                                 const Parameters& p, const SolveOptions& options,
                                 Along<of_p, of_y0> along, const Extras&... extras) {
    if constexpr (detail::check_sensitivities_on_rows<Y0, Parameters>()) {
        auto solver = sensitivity_solver(field, method, options, along, extras...);
        return std::move(solver(y0, p));
    }
}
template <class Field, class Method, class Y0, class Parameters, class... Extras>
requires detail::GoesOverRows<Field, Extras...>
[[nodiscard]] auto sensitivities(const Field& field, const Method& method, const Y0& y0,
                                 const Parameters& p, const SolveOptions& options,
                                 const Extras&... extras) {
    return sensitivities(field, method, y0, p, options, along_parameters, extras...);
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
/// The gradient, and the product of the Hessian with a direction, of an equation whose sizes are known when the program
/// runs: forward over reverse. The direction has the shapes of y0 and p.
template <class Field, class Method, class LossFunction, class Data, class Y0, class Parameters,
          class Y0Direction, class PDirection, class... Extras>
requires detail::GoesOverRows<Field, Extras...>
[[nodiscard]] auto hessian_vector_product(const Field& field, const Method& method,
                                          const LossFunction& loss, const Data& data, const Y0& y0,
                                          const Parameters& p, const Y0Direction& y0_direction,
                                          const PDirection& p_direction,
                                          const SolveOptions& options, const Extras&... extras) {
    if constexpr (detail::check_on_rows<detail::CallKind::hessian, Field, Method, Extras...>()) {
        auto solver = gradient_solver(field, method, loss, options, extras...);
        return solver.hessian_vector_product(data, y0, p, y0_direction, p_direction);
    }
}
/// The product for a loss without data, loss(t, y, p).
template <class Field, class Method, class LossFunction, class Y0, class Parameters,
          class Y0Direction, class PDirection, class... Extras>
requires detail::GoesOverRows<Field, Extras...>
[[nodiscard]] auto hessian_vector_product(const Field& field, const Method& method,
                                          const LossFunction& loss, const Y0& y0,
                                          const Parameters& p, const Y0Direction& y0_direction,
                                          const PDirection& p_direction,
                                          const SolveOptions& options, const Extras&... extras) {
    return hessian_vector_product(field, method, loss, detail::WithoutData{}, y0, p, y0_direction,
                                  p_direction, options, extras...);
}

}  // namespace eddy::inline v0
