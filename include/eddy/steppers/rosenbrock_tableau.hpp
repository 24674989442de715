#pragma once
// Rosenbrock methods as data, and what can be checked of them at compile time. The tables are those of
// the transformed form, which has no product with a Jacobian (Hairer & Wanner 1996, Solving ODEs II,
// IV.7, eq. 7.25):
//
//   (I/(γh) − J) U_i = f(t + c_i h, Y_i) + Σ_{j<i} (coupling_ij/h) U_j + h d_i ∂f/∂t,
//   Y_i = y + Σ_{j<i} a_ij U_j,   y⁺ = y + Σ m_i U_i,   error = Σ m_error_i U_i.
//
// The textbook's coefficients, to which the order conditions belong, follow: Γ = (I/γ − coupling)⁻¹,
// α = a Γ, b = m Γ.
// Test: tests/steppers/rosenbrock_order.cpp

#include <concepts>
#include <eddy/steppers/butcher_tableau.hpp>

namespace eddy::inline v0 {

/// Coefficients of a Rosenbrock method. Rows may be given short: what is left out is zero.
template <int stages>
struct RosenbrockTableau {
    double gamma;
    double c[stages];
    double d[stages];
    double a[stages][stages];
    double coupling[stages][stages];
    double m[stages];
    double m_error[stages];  // m − m̂: weights of the error estimate

    static constexpr int num_stages = stages;
};

/// Dense output of a Rosenbrock method: y(t + θh) = (1 − θ) y + θ y⁺ + θ (1 − θ) Σ_r θ^r Σ_i h_ri U_i.
/// In one step from an exact state it is wrong by O(h^(order+1)). It reads no derivative at the end of
/// the step, which would multiply errors of fast components.
template <int stages, int powers>
struct RosenbrockInterpolant {
    int order;
    double h[powers][stages];

    static constexpr int num_powers = powers;
};

/// A method is a struct with an `order`, an `embedded_order`, `coefficients` and an `interpolant`.
template <class Method>
concept RosenbrockMethod = requires {
    { Method::order } -> std::convertible_to<int>;
    { Method::embedded_order } -> std::convertible_to<int>;
    Method::coefficients.coupling[0][0];
    Method::interpolant.h[0][0];
};

namespace detail {

/// Γ, and α or any other weights of U in terms of the textbook's stages.
template <int stages>
struct TextbookForm {
    double gamma[stages][stages];
    double alpha[stages][stages];
    double beta[stages][stages];  // α + Γ

    explicit constexpr TextbookForm(const RosenbrockTableau<stages>& tableau)
        : gamma{}, alpha{}, beta{} {
        for (int column = 0; column < stages; ++column) {  // forward substitution
            for (int i = column; i < stages; ++i) {
                double sum = i == column ? 1 : 0;
                for (int j = column; j < i; ++j) sum += tableau.coupling[i][j] * gamma[j][column];
                gamma[i][column] = sum * tableau.gamma;
            }
        }
        for (int i = 0; i < stages; ++i) {
            const Stages<stages> row = of(tableau.a[i]);
            for (int j = 0; j < stages; ++j) {
                alpha[i][j] = row.value[j];
                beta[i][j] = alpha[i][j] + gamma[i][j];
            }
        }
    }
    /// Weights of U as weights of the textbook's stages.
    [[nodiscard]] constexpr Stages<stages> of(const double (&weights)[stages]) const {
        Stages<stages> row{};
        for (int i = 0; i < stages; ++i) {
            for (int j = 0; j <= i; ++j) row.value[j] += weights[i] * gamma[i][j];
        }
        return row;
    }
};

/// Do these weights satisfy the conditions of all trees with exactly `order` nodes, to 3, with any matrix
/// in the place of the Jacobian? An only child then hangs by α, where f′ stands, or by Γ, where the
/// matrix does, and a tree with a Γ weighs nothing (there, on methods with inexact Jacobian).
template <int stages>
constexpr bool satisfies_w_order(const TextbookForm<stages>& form, const Stages<stages>& weights,
                                 int order) {
    Stages<stages> one{};
    for (int i = 0; i < stages; ++i) one.value[i] = 1;
    const auto a = [&](const Stages<stages>& x) { return product(form.alpha, x); };
    const auto g = [&](const Stages<stages>& x) { return product(form.gamma, x); };
    const auto is = [&](const Stages<stages>& tree, double expected) {
        return weigh(weights.value, tree, expected);
    };
    const Stages<stages> c = a(one);
    switch (order) {
        case 1: return is(one, 1);
        case 2: return is(c, 1. / 2) && is(g(one), 0);
        default:
            return is(c * c, 1. / 3) && is(a(c), 1. / 6) && is(a(g(one)), 0) && is(g(c), 0) &&
                   is(g(g(one)), 0);
    }
}

template <int stages>
constexpr bool satisfies_orders(const RosenbrockTableau<stages>& tableau,
                                const double (&weights)[stages], int order, double theta = 1) {
    const TextbookForm<stages> form(tableau);
    double scale = theta;
    for (int k = 1; k <= order; ++k, scale *= theta) {
        if (!satisfies_order(form.alpha, form.beta, form.of(weights).value, k, scale)) return false;
    }
    return true;
}

/// Σ_j α_ij = c_i and Σ_j γ_ij = d_i: what an equation that depends on time needs.
template <int stages>
constexpr bool rows_sum_to_c_and_d(const RosenbrockTableau<stages>& tableau) {
    const TextbookForm<stages> form(tableau);
    return rows_sum_to(form.alpha, tableau.c) && rows_sum_to(form.gamma, tableau.d);
}

/// The weights of the embedded solution.
template <int stages>
constexpr bool satisfies_embedded_orders(const RosenbrockTableau<stages>& tableau, int order) {
    double weights[stages]{};
    for (int i = 0; i < stages; ++i) weights[i] = tableau.m[i] - tableau.m_error[i];
    return satisfies_orders(tableau, weights, order);
}

/// The weights of U in the state at θ.
template <class Method>
constexpr bool satisfies_dense_orders(double theta) {
    constexpr auto& tableau = Method::coefficients;
    constexpr auto& table = Method::interpolant;
    double weights[tableau.num_stages]{};
    for (int i = 0; i < tableau.num_stages; ++i) {
        double power = theta * (1 - theta);
        weights[i] = theta * tableau.m[i];
        for (int r = 0; r < table.num_powers; ++r, power *= theta)
            weights[i] += power * table.h[r][i];
    }
    return satisfies_orders(tableau, weights, table.order, theta);
}

/// The growth of y' = λy in a step, with weights `w` of U, as hλ → −∞: there U_i = −Y_i.
template <int stages>
constexpr double growth_at_infinity(const RosenbrockTableau<stages>& tableau,
                                    const double (&w)[stages]) {
    double u[stages]{}, growth = 1;
    for (int i = 0; i < stages; ++i) {
        u[i] = -1;
        for (int j = 0; j < i; ++j) u[i] -= tableau.a[i][j] * u[j];
        growth += w[i] * u[i];
    }
    return growth;
}

}  // namespace detail

/// R(∞) of a method: 0 where an infinitely fast component is gone after one step.
template <RosenbrockMethod Method>
inline constexpr double stability_at_infinity = detail::growth_at_infinity(Method::coefficients,
                                                                           Method::coefficients.m);

/// The order that a method keeps with any matrix in the place of the Jacobian, to 3: of a W-method its
/// own.
template <RosenbrockMethod Method>
inline constexpr int w_order = [] {
    constexpr int stages = Method::coefficients.num_stages;
    const detail::TextbookForm<stages> form(Method::coefficients);
    const auto weights = form.of(Method::coefficients.m);
    int order = 0;
    while (order < 3 && detail::satisfies_w_order(form, weights, order + 1)) ++order;
    return order;
}();

/// Is the new state the last stage's state and its solution, Y_s + U_s, so that a step ends on what a
/// stiff equation draws it to?
template <RosenbrockMethod Method>
inline constexpr bool is_stiffly_accurate = [] {
    constexpr auto& tableau = Method::coefficients;
    constexpr int last = tableau.num_stages - 1;
    for (int j = 0; j < last; ++j) {
        if (tableau.m[j] != tableau.a[last][j]) return false;
    }
    return tableau.m[last] == 1 && tableau.c[last] == 1;
}();

/// Checks a method when it is named; each failure says in one sentence what is wrong.
template <RosenbrockMethod Method>
struct ValidRosenbrockTableau {
    static constexpr auto& tableau = Method::coefficients;
    static_assert(tableau.gamma > 0, "Rosenbrock tableau: gamma must be positive");
    static_assert(detail::is_strictly_lower(tableau.a) &&
                      detail::is_strictly_lower(tableau.coupling),
                  "Rosenbrock tableau: a and coupling must be strictly lower triangular");
    static_assert(detail::rows_sum_to_c_and_d(tableau),
                  "Rosenbrock tableau: the rows of alpha must sum to c, those of Gamma to d");
    static_assert(Method::order >= 1 && Method::order <= 5 &&
                      detail::satisfies_orders(tableau, tableau.m, Method::order),
                  "Rosenbrock tableau: the conditions of its order fail");
    static_assert(detail::satisfies_embedded_orders(tableau, Method::embedded_order),
                  "Rosenbrock tableau: the conditions of the embedded order fail");
    static_assert(detail::satisfies_dense_orders<Method>(0.25) &&
                      detail::satisfies_dense_orders<Method>(0.5) &&
                      detail::satisfies_dense_orders<Method>(0.75),
                  "Rosenbrock tableau: the conditions of the order of dense output fail");
    static_assert(detail::nearly_zero(stability_at_infinity<Method>),
                  "Rosenbrock tableau: R(infinity) must be 0, or stiff components stay");
    static constexpr bool value = true;
};

}  // namespace eddy::inline v0
