#pragma once
// Calls that make a solver object, call it once and return what it has found. One text for equations that are compiled and for those
// over rows: which object it is says the function that makes it, found by its arguments.
// Test: tests/solve/solver_objects.cpp, tests/backends/row_gradient.cpp

#include <eddy/solve/ask/missing.hpp>
#include <eddy/solve/ask/options.hpp>
#include <eddy/solve/call/gradient_result.hpp>
#include <eddy/solve/call/sensitivity_result.hpp>
#include <type_traits>
#include <utility>

namespace eddy::inline v0 {

/// The sum of loss(t, y, p, data) over all save points, for each trajectory and in total, and its
/// gradients with respect to y0 and p.
/// The gradient is that of the discrete solution (discrete adjoint), with step sizes held constant.
/// `data` is one (trajectory, observable) array for one save point, else a std::vector with one
/// array for each save point. An array of one row is shared by all trajectories. Over rows the loss may capture what is constant.
template <class Field, class Method, class LossFunction, class Data, class Y0, class Parameters,
          class... Extras>
[[nodiscard]] auto value_and_gradient(const Field& field, const Method& method,
                                      const LossFunction& loss, const Data& data, const Y0& y0,
                                      const Parameters& p, const SolveOptions& options,
                                      const Extras&... extras) {
    using Solver = decltype(gradient_solver(field, method, loss, options, extras...));
    if constexpr (!std::is_void_v<Solver>) {  // else a check has said what is wrong
        Solver solver = gradient_solver(field, method, loss, options, extras...);
        return detail::taken(solver(data, y0, p));
    }
}
/// The gradient for a loss without data, loss(t, y, p).
template <class Field, class Method, class LossFunction, class Y0, class Parameters,
          class... Extras>
[[nodiscard]] auto value_and_gradient(const Field& field, const Method& method,
                                      const LossFunction& loss, const Y0& y0, const Parameters& p,
                                      const SolveOptions& options, const Extras&... extras) {
    return value_and_gradient(field, method, loss, detail::NoData{}, y0, p, options, extras...);
}

/// The gradient, and the product of the Hessian of the total loss with a direction: forward over reverse. The direction
/// has the shapes of y0 and p.
template <class Field, class Method, class LossFunction, class Data, class Y0, class Parameters,
          class Y0Direction, class PDirection, class... Extras>
[[nodiscard]] auto hessian_vector_product(const Field& field, const Method& method,
                                          const LossFunction& loss, const Data& data, const Y0& y0,
                                          const Parameters& p, const Y0Direction& y0_direction,
                                          const PDirection& p_direction,
                                          const SolveOptions& options, const Extras&... extras) {
    using Solver = decltype(gradient_solver(field, method, loss, options, extras...));
    if constexpr (!std::is_void_v<Solver>) {
        Solver solver = gradient_solver(field, method, loss, options, extras...);
        return solver.hessian_vector_product(data, y0, p, y0_direction, p_direction);
    }
}
/// The Hessian-vector product for a loss without data, loss(t, y, p).
template <class Field, class Method, class LossFunction, class Y0, class Parameters,
          class Y0Direction, class PDirection, class... Extras>
[[nodiscard]] auto hessian_vector_product(const Field& field, const Method& method,
                                          const LossFunction& loss, const Y0& y0,
                                          const Parameters& p, const Y0Direction& y0_direction,
                                          const PDirection& p_direction,
                                          const SolveOptions& options, const Extras&... extras) {
    return hessian_vector_product(field, method, loss, detail::NoData{}, y0, p, y0_direction,
                                  p_direction, options, extras...);
}

/// A solver of sensitivities with respect to the parameters: `sensitivity_solver(field, method, options, extras...)`.
template <class Field, class Method, class... Extras>
[[nodiscard]] auto sensitivity_solver(const Field& field, const Method& method,
                                      const SolveOptions& options, const Extras&... extras) {
    return sensitivity_solver(field, method, options, along_parameters, extras...);
}
/// The solution, and all of its derivatives with respect to the parameters, to y0, or to both:
/// `sensitivities(field, method, y0, p, options, along_both, extras...)`. Each is what `pushforward` finds in its direction:
/// to rounding where steps carry all of them, else bit for bit. Step sizes are held constant. y0 and p
/// are arrays, or p is `shared(p)`.
template <class Field, class Method, class Y0, class Parameters, bool of_p, bool of_y0,
          class... Extras>
[[nodiscard]] auto sensitivities(const Field& field, const Method& method, const Y0& y0,
                                 const Parameters& p, const SolveOptions& options,
                                 Along<of_p, of_y0> along, const Extras&... extras) {
    using Solver = decltype(sensitivity_solver(field, method, options, along, extras...));
    if constexpr (!std::is_void_v<Solver>) {
        Solver solver = sensitivity_solver(field, method, options, along, extras...);
        return std::move(solver(y0, p));
    }
}
template <class Field, class Method, class Y0, class Parameters, class... Extras>
[[nodiscard]] auto sensitivities(const Field& field, const Method& method, const Y0& y0,
                                 const Parameters& p, const SolveOptions& options,
                                 const Extras&... extras) {
    return sensitivities(field, method, y0, p, options, along_parameters, extras...);
}

}  // namespace eddy::inline v0
