#pragma once
// Diagonally implicit Runge–Kutta methods whose first stage is explicit, as data, and what can be checked
// of them at compile time:
//
//   k_1 = f(t, y),   Y_i = y + h Σ_{j<i} a_ij k_j + hγ k_i,   k_i = f(t + c_i h, Y_i),   y⁺ = Y_s.
//
// All implicit stages have the same γ, and so one matrix I − hγJ serves them. The last stage is the new
// state: a step ends on what a stiff equation draws it to. The tables say what can be computed of them:
// with R(∞), whether dense output stays bounded on infinitely fast components, and whether the error
// estimate does (Hosea & Shampine 1996, Appl. Numer. Math. 20(1–2), 21–37).
// Test: tests/steppers/esdirk_order.cpp, tests/steppers/esdirk_dense.cpp

#include <concepts>
#include <eddy/steppers/butcher_tableau.hpp>

namespace eddy::inline v0 {

/// Coefficients of a method. Rows of `a` are those left of the diagonal, on which γ stands from the second
/// stage on; they may be given short: what is left out is zero.
template <int stages>
struct EsdirkTableau {
    double gamma;
    double c[stages];
    double a[stages][stages];
    double b_error[stages];  // b − b̂: weights of the error estimate

    static constexpr int num_stages = stages;

    /// a_ij with its diagonal.
    [[nodiscard]] constexpr double full(int i, int j) const {
        return i == j && i > 0 ? gamma : a[i][j];
    }
};

/// Dense output: y(t + θh) = y + h Σ_i w_i(θ) k_i, w_i(θ) = Σ_m weights[i][m] θ^(m+1). In one step from an
/// exact state it is wrong by O(h^(order+1)). Infinitely fast components do not grow in it: f at the
/// start of a step multiplies their errors by hλ, and the weights cancel that.
template <int stages, int powers>
struct EsdirkInterpolant {
    int order;
    double weights[stages][powers];

    static constexpr int num_powers = powers;
};

/// A method is a struct with an `order`, an `embedded_order`, `coefficients`, an `interpolant` and a
/// `newton_tolerance`, which need not be known when it is compiled: how large the error that Newton's
/// iteration leaves in a stage may be, as a fraction of the tolerance of a step's error.
template <class Method>
concept EsdirkMethod = requires {
    { Method::order } -> std::convertible_to<int>;
    { Method::embedded_order } -> std::convertible_to<int>;
    { Method::newton_tolerance } -> std::convertible_to<double>;
    { Method::coefficients.full(0, 0) } -> std::convertible_to<double>;
    Method::interpolant.weights[0][0];
};

/// A method with a second, explicit table `explicit_a` for the part of a field that is not stiff, whose
/// b and c are those of the implicit one. A field that is not split is all implicit.
template <class Method>
concept ImexMethod = EsdirkMethod<Method> && requires {
    { Method::explicit_a[0][0] } -> std::convertible_to<double>;
};

namespace detail {

/// The tableau of a step to θ with weights w(θ): its conditions are those of a whole step.
template <int stages>
constexpr ButcherTableau<stages> shortened(const EsdirkTableau<stages>& tableau,
                                           const double (&weights)[stages], double theta) {
    ButcherTableau<stages> all{};
    for (int i = 0; i < stages; ++i) {
        all.c[i] = tableau.c[i] / theta;
        all.b[i] = weights[i] / theta;
        for (int j = 0; j <= i; ++j) all.a[i][j] = tableau.full(i, j) / theta;
    }
    return all;
}
template <int stages>
constexpr bool satisfies_orders(const EsdirkTableau<stages>& tableau,
                                const double (&weights)[stages], int order, double theta = 1) {
    const ButcherTableau<stages> all = shortened(tableau, weights, theta);
    for (int k = 1; k <= order; ++k) {
        if (!satisfies_order(all, k)) return false;
    }
    return true;
}

/// The weights of y⁺, those of the last stage; less `share` times those of the error estimate.
template <int stages>
constexpr Stages<stages> end_weights(const EsdirkTableau<stages>& tableau, double share) {
    Stages<stages> b{};
    for (int i = 0; i < stages; ++i)
        b.value[i] = tableau.full(stages - 1, i) - share * tableau.b_error[i];
    return b;
}

/// Of y' = λy, as z = hλ → −∞: h k_i grows as κ_i z y, κ_1 = 1, and implicit stages are drawn to zero:
/// Σ_{j≤i} a_ij κ_j = 0. There Y_i → κ_i y.
template <int stages>
constexpr Stages<stages> growths_at_infinity(const EsdirkTableau<stages>& tableau) {
    Stages<stages> kappa{{1}};
    for (int i = 1; i < stages; ++i) {
        for (int j = 0; j < i; ++j) kappa.value[i] -= tableau.a[i][j] * kappa.value[j];
        kappa.value[i] /= tableau.gamma;
    }
    return kappa;
}
/// Does Σ weights_i h k_i stay bounded there?
template <int stages>
constexpr bool is_bounded_at_infinity(const EsdirkTableau<stages>& tableau,
                                      const double (&weights)[stages]) {
    return weigh(weights, growths_at_infinity(tableau), 0);
}

/// w_i(θ).
template <class Method>
constexpr double dense_weight(int i, double theta) {
    constexpr auto& table = Method::interpolant;
    double sum = 0;
    for (int m = table.num_powers; m-- > 0;) sum = theta * (sum + table.weights[i][m]);
    return sum;
}
template <class Method>
constexpr bool has_valid_dense_output(double theta) {
    constexpr auto& tableau = Method::coefficients;
    double weights[tableau.num_stages]{};
    for (int i = 0; i < tableau.num_stages; ++i) weights[i] = dense_weight<Method>(i, theta);
    return satisfies_orders(tableau, weights, Method::interpolant.order, theta) &&
           is_bounded_at_infinity(tableau, weights);
}

/// One of two matrices for each edge of a tree; b and c are common.
template <class Method>
struct MatrixPair {
    static constexpr auto& tableau = Method::coefficients;
    static constexpr int stages = tableau.num_stages;
    Stages<stages> c{};
    double a[2][stages][stages]{};  // explicit, implicit

    constexpr MatrixPair() {
        for (int i = 0; i < stages; ++i) {
            c.value[i] = tableau.c[i];
            for (int j = 0; j <= i; ++j) {
                a[0][i][j] = Method::explicit_a[i][j];
                a[1][i][j] = tableau.full(i, j);
            }
        }
    }
    /// The conditions of all trees with at most `order` nodes, to 4, for weights that reach θ.
    [[nodiscard]] constexpr bool satisfies(const double (&weights)[stages], int order,
                                           double theta = 1) const {
        const auto hang = [&](int which, const Stages<stages>& x) { return product(a[which], x); };
        const auto is = [&](const Stages<stages>& tree, double expected) {
            return weigh(weights, tree, expected);
        };
        const double cube = theta * theta * theta, fourth = cube * theta;
        bool holds = true;
        for (int one = 0; one < 2; ++one) {
            const Stages<stages> above = hang(one, c);
            if (order >= 3) holds = holds && is(above, cube / 6);
            if (order < 4) continue;
            holds = holds && is(c * above, fourth / 8) && is(hang(one, c * c), fourth / 12);
            for (int two = 0; two < 2; ++two) holds = holds && is(hang(two, above), fourth / 24);
        }
        return holds;
    }
};

/// An explicit table with the c of the implicit one, and the conditions of both together, within steps
/// too.
template <class Method>
constexpr bool is_valid_pair() {
    if constexpr (ImexMethod<Method>) {
        constexpr auto& tableau = Method::coefficients;
        constexpr int stages = tableau.num_stages;
        const MatrixPair<Method> pair;
        if (!is_strictly_lower(Method::explicit_a) || !rows_sum_to(Method::explicit_a, tableau.c))
            return false;
        constexpr double thetas[] = {0.25, 0.5, 0.75};
        for (const double theta : thetas) {
            double weights[stages]{};
            for (int i = 0; i < stages; ++i) weights[i] = dense_weight<Method>(i, theta);
            if (!pair.satisfies(weights, Method::interpolant.order, theta)) return false;
        }
        return Method::order <= 4 && pair.satisfies(end_weights(tableau, 0).value, Method::order) &&
               pair.satisfies(end_weights(tableau, 1).value, Method::embedded_order);
    }
    return true;
}

}  // namespace detail

/// R(∞) of a method: 0 where an infinitely fast component is gone after one step.
template <EsdirkMethod Method>
inline constexpr double esdirk_stability_at_infinity =
    detail::growths_at_infinity(Method::coefficients).value[Method::coefficients.num_stages - 1];

/// Does the error estimate grow without bound with the speed of a component? It then is damped by a
/// solve with the matrix of the step, (I − hγJ)⁻¹.
template <EsdirkMethod Method>
inline constexpr bool filters_error =
    !detail::is_bounded_at_infinity(Method::coefficients, Method::coefficients.b_error);

/// Checks a method when it is named; each failure says in one sentence what is wrong.
template <EsdirkMethod Method>
struct ValidEsdirkTableau {
    static constexpr auto& tableau = Method::coefficients;
    static constexpr int last = tableau.num_stages - 1;
    static_assert(tableau.gamma > 0, "ESDIRK tableau: gamma must be positive");
    static_assert(detail::is_strictly_lower(tableau.a),
                  "ESDIRK tableau: give a only left of the diagonal; the diagonal is gamma");
    static_assert(detail::rows_sum_to(detail::shortened(tableau, tableau.b_error, 1).a, tableau.c),
                  "ESDIRK tableau: the rows of a must sum to c");
    static_assert(tableau.c[last] == 1, "ESDIRK tableau: the last stage must be the new state");
    static_assert(Method::order >= 1 && Method::order <= 5 &&
                      detail::satisfies_orders(tableau, detail::end_weights(tableau, 0).value,
                                               Method::order),
                  "ESDIRK tableau: the conditions of its order fail");
    static_assert(detail::satisfies_orders(tableau, detail::end_weights(tableau, 1).value,
                                           Method::embedded_order),
                  "ESDIRK tableau: the conditions of the embedded order fail");
    static_assert(detail::has_valid_dense_output<Method>(0.25) &&
                      detail::has_valid_dense_output<Method>(0.5) &&
                      detail::has_valid_dense_output<Method>(0.75),
                  "ESDIRK tableau: dense output is not of its order, or grows on fast components");
    static_assert(detail::nearly_zero(esdirk_stability_at_infinity<Method>),
                  "ESDIRK tableau: R(infinity) must be 0, or stiff components stay");
    static_assert(
        Method{}.newton_tolerance > 0 && Method{}.newton_tolerance <= 1,
        "ESDIRK method: newton_tolerance is a fraction of the tolerance, above 0 and at most 1");
    static_assert(
        detail::is_valid_pair<Method>(),
        "ESDIRK tableau: explicit_a must be strictly lower triangular, its rows sum to c, and "
        "both tables together satisfy the conditions of the orders, to 4");
    static constexpr bool value = true;
};

}  // namespace eddy::inline v0
