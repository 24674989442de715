#pragma once
// A method as numbers, for loops that are compiled once for all methods: an explicit Runge–Kutta method's tableau, that of
// its dense output and what follows from them, or the table of an implicit method. A method of the user's own is one as well.
// Test: tests/backends/row_solve.cpp

#include <eddy/steppers/butcher_tableau.hpp>
#include <eddy/steppers/interpolant_tableau.hpp>
#include <eddy/steppers/rows/esdirk_on_rows.hpp>
#include <eddy/steppers/rows/rosenbrock_on_rows.hpp>
#include <eddy/steppers/stability_polynomial.hpp>

namespace eddy::inline v0::detail {

/// What loops over rows read of a method. The tables live as long as the program.
struct MethodOnRows {
    static constexpr int most_stages = 24;

    int order;
    float error_order;
    int num_stages;        // of an attempt: those that the error needs
    int num_needed;        // those that y⁺ needs
    int num_dense;         // those that dense output needs
    int num_powers;        // of θ
    bool estimates_error;  // as it is used: are steps chosen by it?
    bool carries_last;     // is the last stage of a step the first of the next?
    bool steps_to_save_points;
    double stability_length;    // of an explicit method that estimates errors
    const double *c, *a;        // (stage), (stage, stage) of num_dense
    const double *b, *b_error;  // (stage)
    const double* b_coarse;     // (stage); null: there is one estimate
    const double* dense;        // (stage, power): weights of θ^(power + 1)
    /// Other kinds of methods, whose steps are programs. Both null: it is explicit.
    const RosenbrockOnRows* rosenbrock;
    const EsdirkOnRows* esdirk;
    int num_times;  // that those programs read; behind them h

    [[nodiscard]] constexpr bool is_implicit() const { return num_times > 0; }

    [[nodiscard]] double a_of(int i, int j) const { return a[i * num_dense + j]; }
    [[nodiscard]] int evaluations_at_start() const { return carries_last ? 1 : 0; }
    [[nodiscard]] int evaluations_per_attempt() const {
        if (esdirk) return 1;  // and those of its iterations
        return rosenbrock ? rosenbrock->num_points : num_stages - evaluations_at_start();
    }
    [[nodiscard]] int evaluations_per_replay() const {
        return rosenbrock ? rosenbrock->num_points_of_needed : num_needed;
    }
    /// How many states a step keeps for the way back, each with what the equation leaves beside it.
    [[nodiscard]] int num_kept() const { return is_implicit() ? 1 : num_dense; }
};

template <class Method, bool estimates_error>
[[nodiscard]] constexpr MethodOnRows implicit_method_on_rows() {
    MethodOnRows method{};
    method.order = Method::order;
    method.error_order =
        static_cast<float>(estimates_error ? estimate_order<Method> : Method::order);
    method.estimates_error = estimates_error;
    method.steps_to_save_points = Method::interpolant.order + 1 < Method::order;
    const auto take = [&](const auto& table, int num_needed) {
        method.num_stages = method.num_needed = method.num_dense = num_needed;
        method.num_powers = table.num_powers;
        method.num_times = table.num_stages;
        method.c = table.c;
    };
    if constexpr (RosenbrockMethod<Method>) {
        method.rosenbrock = &rosenbrock_on_rows<Method, estimates_error>;
        take(*method.rosenbrock, method.rosenbrock->num_needed);
    } else {
        method.esdirk = &esdirk_on_rows<Method, estimates_error>;
        take(*method.esdirk, method.esdirk->num_stages);
        method.dense = method.esdirk->dense;
    }
    return method;
}

template <RungeKuttaMethod Method, bool estimates_error>
[[nodiscard]] constexpr MethodOnRows explicit_method_on_rows() {
    constexpr auto& all = stage_tableau<Method>;
    constexpr auto& further = interpolant_tableau<Method>;
    constexpr int needed = num_needed_stages<Method>;
    static_assert(all.num_stages <= MethodOnRows::most_stages,
                  "solve: a method on rows has at most 24 stages, those of dense output included");
    MethodOnRows method{};
    method.order = Method::order;
    method.error_order = static_cast<float>(Method::order);
    if constexpr (estimates_error) {
        method.error_order = static_cast<float>(error_order<Method>);
        method.stability_length = eddy::stability_length<Method>;
    }
    method.num_stages = estimates_error ? Method::tableau.num_stages : needed;
    method.num_needed = needed;
    method.num_dense = all.num_stages;
    method.num_powers = further.num_powers;
    method.estimates_error = estimates_error;
    method.carries_last = estimates_error && is_fsal<Method>;
    method.steps_to_save_points = eddy::steps_to_save_points<Method>;
    method.c = all.c;
    method.a = all.a[0];
    method.b = all.b;
    method.b_error = all.b_error;
    if constexpr (estimates_error && has_coarse_error<Method>)
        method.b_coarse = Method::b_coarse_error;
    method.dense = further.weights[0];
    return method;
}

/// A method that chooses its steps by an estimate of their error, or takes steps of constant size.
template <class Method, bool estimates_error>
inline constexpr MethodOnRows method_on_rows = [] {
    if constexpr (RosenbrockMethod<Method> || EsdirkMethod<Method>)
        return implicit_method_on_rows<Method, estimates_error>();
    else
        return explicit_method_on_rows<Method, estimates_error>();
}();

}  // namespace eddy::inline v0::detail
