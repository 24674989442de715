#pragma once
// A Rosenbrock method as numbers, and its steps as an equation of their own: the program of a whole step, with the
// Jacobian, the factors of its matrix and the solves of all stages, is one graph, made when the program runs. What
// walks equations over rows of lanes walks steps, and differentiates them, as any other.
// Test: tests/backends/row_stiff.cpp

#include <eddy/core/export.hpp>
#include <eddy/steppers/rosenbrock_rows.hpp>
#include <memory>

namespace eddy::inline v0 {

class FieldMaker;
enum class RowLevel : unsigned char;

namespace detail {

/// What a step reads of a method. The tables live as long as the program.
struct RosenbrockOnRows {
    static constexpr int most_stages = 8;

    int num_stages;        // of an attempt
    int num_needed;        // those that y⁺ and dense output need
    int num_powers;        // of dense output
    bool estimates_error;  // as it is used
    double gamma;
    int stride;                            // of rows of stages
    const double *c, *d, *a, *coupling;    // (stage), (stage, stage)
    const double *m, *m_error, *h;         // (stage), (power, stage)
    int point[most_stages];                // (stage): the first one with its state and time
    int first_coupled[most_stages];        // (stage): with which it is coupled; itself: none
    bool extends[most_stages + 1];         // (stage; then y⁺): is it the state before, and its U?
    int num_points, num_points_of_needed;  // evaluations of f

    /// The weight of U_j in the state of stage i; in y⁺ for the stage behind the last.
    [[nodiscard]] double a_of(int i, int j) const { return i == stride ? m[j] : a[i * stride + j]; }
    [[nodiscard]] double h_of(int power, int i) const { return h[power * stride + i]; }
};

template <RosenbrockMethod Method, bool estimates_error>
inline constexpr RosenbrockOnRows rosenbrock_on_rows = [] {
    using Stages = RosenbrockRows<Method>;
    constexpr auto& table = Method::coefficients;
    constexpr int stages = Stages::num_stages, needed = Stages::num_needed_stages();
    static_assert(ValidRosenbrockTableau<Method>::value);
    static_assert(stages <= RosenbrockOnRows::most_stages,
                  "solve: a Rosenbrock method on rows has at most 8 stages");
    RosenbrockOnRows method{};
    method.num_stages = estimates_error ? stages : needed;
    method.num_needed = needed;
    method.num_powers = Method::interpolant.num_powers;
    method.estimates_error = estimates_error;
    method.gamma = table.gamma;
    method.stride = stages;
    method.c = table.c;
    method.d = table.d;
    method.a = table.a[0];
    method.coupling = table.coupling[0];
    method.m = table.m;
    method.m_error = table.m_error;
    method.h = Method::interpolant.h[0];
    for (int i = 0; i < stages; ++i) {
        method.point[i] = Stages::point(i);
        method.first_coupled[i] = Stages::first_coupled(i);
    }
    for (int i = 0; i <= stages; ++i) method.extends[i] = Stages::extends(i);
    method.num_points = Stages::num_points(method.num_stages);
    method.num_points_of_needed = Stages::num_points(needed);
    return method;
}();

/// The equation, whose tiles bring steps along. The first argument of these are the times of the stages, then h; their
/// results are y⁺, the error where it is estimated, a number that is below the rounding unit where the step has
/// failed, and U_i of those stages that dense output needs. Throws InvalidArgument where the equation is no program.
[[nodiscard]] EDDY_EXPORT std::shared_ptr<const FieldMaker> with_steps(
    const std::shared_ptr<const FieldMaker>& field, const RosenbrockOnRows& method, RowLevel level);

}  // namespace detail
}  // namespace eddy::inline v0
