#pragma once
// An ESDIRK method as numbers, and its steps as an equation of their own: Newton's iteration of a stage is a loop of the
// program, whose turns each lane takes until it has converged, and its derivative is that of the stage's equation.
// Test: tests/backends/row_esdirk.cpp

#include <eddy/core/export.hpp>
#include <eddy/steppers/esdirk_rows.hpp>
#include <memory>
#include <vector>

namespace eddy::inline v0 {

class FieldMaker;
enum class RowLevel : unsigned char;
struct Graph;

namespace detail {

/// What a step reads of a method.
struct EsdirkOnRows {
    static constexpr int most_stages = 8, most_powers = 5;

    int num_stages, num_powers;  // of a step; of dense output
    bool estimates_error;        // as it is used
    bool filters_error;
    double gamma;
    double c[most_stages], error[most_stages];
    double weight[most_stages][most_stages], first_guess[most_stages][most_stages];
    double dense[most_stages * most_powers];  // (stage, power) of these many
};

template <EsdirkMethod Method, bool estimates_error>
inline constexpr EsdirkOnRows esdirk_on_rows = [] {
    using Stages = EsdirkRows<Method>;
    static_assert(ValidEsdirkTableau<Method>::value);
    static_assert(Stages::num_stages <= EsdirkOnRows::most_stages &&
                      Stages::num_powers <= EsdirkOnRows::most_powers,
                  "solve: an ESDIRK method on rows has at most 8 stages, and dense output of "
                  "degree 5");
    EsdirkOnRows method{};
    method.num_stages = Stages::num_stages;
    method.num_powers = Stages::num_powers;
    method.estimates_error = estimates_error;
    method.filters_error = filters_error<Method>;
    method.gamma = Method::coefficients.gamma;
    for (int i = 0; i < Stages::num_stages; ++i) {
        method.c[i] = Method::coefficients.c[i];
        method.error[i] = Stages::error_weight(i);
        for (int j = 0; j < i; ++j) {
            method.weight[i][j] = Stages::weight(i, j);
            method.first_guess[i][j] = Stages::first_guess(i, j);
        }
        for (int m = 0; m < Stages::num_powers; ++m)
            method.dense[i * Stages::num_powers + m] = Stages::dense_weight(i, m);
    }
    return method;
}();

/// How far Newton's iterations go: to a share of the tolerances.
struct NewtonOnRows {
    double share, rtol;
    std::vector<double> atol;  // one for all components, or one for each; else the call is refused

    [[nodiscard]] double atol_of(int component) const {
        const auto c = static_cast<std::size_t>(component);
        return c < atol.size() ? atol[c] : atol.empty() ? 0 : atol.front();
    }
};

/// The equation, whose tiles bring steps along. The first argument of these are the times of the stages, h, then the
/// rounding unit; their results are y⁺, the error where it is estimated, a number that is zero where the step has failed,
/// how many updates the iterations took, and the increments z_i. Throws InvalidArgument where the equation is no program.
[[nodiscard]] EDDY_EXPORT std::shared_ptr<const FieldMaker> with_steps(
    const std::shared_ptr<const FieldMaker>& field, const EsdirkOnRows& method,
    const NewtonOnRows& newton, RowLevel level);

}  // namespace detail
}  // namespace eddy::inline v0
