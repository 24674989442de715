#pragma once
// Runge–Kutta methods as data, and what can be checked of them at compile time: shape, row sums,
// and the rooted-tree order conditions up to order 5 (Hairer, Nørsett & Wanner 1993, Solving ODEs
// I, table II.2.2).
// Test: tests/steppers/butcher_tableau.cpp

#include <concepts>

namespace eddy::inline v0 {

/// The coefficients of a Runge–Kutta method. Rows of `a` may be given short: the rest is zero.
template <int stages>
struct ButcherTableau {
    double c[stages];
    double a[stages][stages];
    double b[stages];
    double b_error[stages];  // b − b̂: weights of the error estimate; all zero where there is none

    static constexpr int num_stages = stages;
};

/// A method is a struct with an `order` and a `tableau`.
template <class Method>
concept RungeKuttaMethod = requires {
    { Method::order } -> std::convertible_to<int>;
    Method::tableau.a[0][0];
};

/// First same as last: the last stage is evaluated at the new state and is the first stage of the
/// next step.
template <RungeKuttaMethod Method>
inline constexpr bool is_fsal = [] {
    constexpr auto& tableau = Method::tableau;
    constexpr int last = tableau.num_stages - 1;
    if (tableau.c[last] != 1 || tableau.b[last] != 0) return false;
    for (int j = 0; j < last; ++j) {
        if (tableau.a[last][j] != tableau.b[j]) return false;
    }
    return last > 0;
}();

/// Has a method two error estimates? It then has `b_coarse_error`, weights as in `b_error`, of an
/// estimate of `coarse_order` below `embedded_order`. The norm of its error is that of both
/// (`combined_square` of controller/error_norm.hpp).
template <RungeKuttaMethod Method>
inline constexpr bool has_coarse_error = requires {
    Method::b_coarse_error[0];
};

namespace detail {

/// The number of leading stages that the new state depends on.
template <RungeKuttaMethod Method>
inline constexpr int num_needed_stages = [] {
    int needed = Method::tableau.num_stages;
    while (needed > 1 && Method::tableau.b[needed - 1] == 0) --needed;
    return needed;
}();

constexpr bool nearly_zero(double x) { return x < 2e-14 && x > -2e-14; }

template <int stages>
constexpr bool is_strictly_lower(const double (&matrix)[stages][stages]) {
    for (int i = 0; i < stages; ++i) {
        for (int j = i; j < stages; ++j) {
            if (matrix[i][j] != 0) return false;
        }
    }
    return true;
}

template <int stages>
constexpr bool rows_sum_to(const double (&matrix)[stages][stages], const double (&sums)[stages]) {
    for (int i = 0; i < stages; ++i) {
        double sum = -sums[i];
        for (int j = 0; j < stages; ++j) sum += matrix[i][j];
        if (!nearly_zero(sum)) return false;
    }
    return true;
}

template <int stages>
constexpr bool sum_to_zero(const double (&weights)[stages]) {
    double sum = 0;
    for (double weight : weights) sum += weight;
    return nearly_zero(sum);
}

template <class Method>
constexpr bool errors_sum_to_zero() {
    if constexpr (has_coarse_error<Method>) {
        if (!sum_to_zero(Method::b_coarse_error)) return false;
    }
    return sum_to_zero(Method::tableau.b_error);
}

/// The elementary weights of the rooted trees. A tree is built from stage vectors: `Stages` holds
/// one number per stage.
template <int stages>
struct Stages {
    double value[stages];

    friend constexpr Stages operator*(const Stages& x, const Stages& y) {
        Stages product{};
        for (int i = 0; i < stages; ++i) product.value[i] = x.value[i] * y.value[i];
        return product;
    }
};

template <int stages>
constexpr Stages<stages> product(const double (&matrix)[stages][stages], const Stages<stages>& x) {
    Stages<stages> y{};
    for (int i = 0; i < stages; ++i) {
        for (int j = 0; j < stages; ++j) y.value[i] += matrix[i][j] * x.value[j];
    }
    return y;
}

/// Does Σ weights_i x_i equal `expected`, up to rounding?
template <int stages>
constexpr bool weigh(const double (&weights)[stages], const Stages<stages>& x, double expected) {
    double sum = -expected;
    for (int i = 0; i < stages; ++i) sum += weights[i] * x.value[i];
    return nearly_zero(sum);
}

/// Do these weights satisfy the conditions of all trees with exactly `order` nodes, for the solution at
/// a fraction θ of the step, scale = θ^order? `a` hangs brothers, `b` an only child: the same matrix for
/// Runge–Kutta methods, α and α + Γ for Rosenbrock methods (Hairer & Wanner 1996, Solving ODEs II, IV.7,
/// table 7.1 and theorem 7.4).
template <int stages>
constexpr bool satisfies_order(const double (&alpha)[stages][stages],
                               const double (&beta)[stages][stages],
                               const double (&weights)[stages], int order, double scale = 1) {
    Stages<stages> one{};
    for (int i = 0; i < stages; ++i) one.value[i] = 1;
    const auto a = [&](const Stages<stages>& x) { return product(alpha, x); };
    const auto b = [&](const Stages<stages>& x) { return product(beta, x); };
    const Stages<stages> c = a(one);
    const auto is = [&](const Stages<stages>& tree, double density) {
        return weigh(weights, tree, scale / density);
    };
    switch (order) {
        case 1: return is(one, 1);
        case 2: return is(b(one), 2);
        case 3: return is(c * c, 3) && is(b(b(one)), 6);
        case 4:
            return is(c * c * c, 4) && is(c * a(b(one)), 8) && is(b(c * c), 12) &&
                   is(b(b(b(one))), 24);
        case 5:
            return is(c * c * c * c, 5) && is(c * c * a(b(one)), 10) &&
                   is(a(b(one)) * a(b(one)), 20) && is(c * a(c * c), 15) &&
                   is(c * a(b(b(one))), 30) && is(b(c * c * c), 20) && is(b(c * a(b(one))), 40) &&
                   is(b(b(c * c)), 60) && is(b(b(b(b(one)))), 120);
        default: return true;
    }
}
template <int stages>
constexpr bool satisfies_order(const ButcherTableau<stages>& tableau, int order) {
    return satisfies_order(tableau.a, tableau.a, tableau.b, order);
}

}  // namespace detail

/// The order of b̂, the solution that errors are estimated with. A method may say it, as `embedded_order`;
/// else it is worked out, up to 5, and beyond that taken to be one less than the method's own.
template <class Method>
inline constexpr int embedded_order = [] {
    if constexpr (requires { Method::embedded_order; }) {
        return int{Method::embedded_order};
    } else {
        constexpr auto& tableau = Method::tableau;
        auto weights = tableau;
        for (int i = 0; i < tableau.num_stages; ++i) weights.b[i] -= tableau.b_error[i];
        int order = 0;
        while (order < 5 && detail::satisfies_order(weights, order + 1)) ++order;
        return order == 5 && Method::order > 5 ? Method::order - 1 : order;
    }
}();

/// The power of dt with which the difference of a method's two solutions falls.
template <class Method>
inline constexpr int estimate_order = (Method::order < embedded_order<Method>
                                           ? Method::order
                                           : embedded_order<Method>)+1;

/// The power of dt with which the norm of a step's estimated error falls.
template <RungeKuttaMethod Method>
inline constexpr int error_order = [] {
    if constexpr (has_coarse_error<Method>)
        return 2 * estimate_order<Method> - (Method::coarse_order + 1);
    else
        return estimate_order<Method>;
}();

/// Checks an explicit method at compile time. Each failure says in one sentence what is wrong.
/// Steppers name it; the files of solvers/ do not, so that programs pay only for the methods that
/// they use.
template <RungeKuttaMethod Method>
struct ValidTableau {
    static constexpr auto& tableau = Method::tableau;
    static_assert(detail::is_strictly_lower(tableau.a),
                  "tableau: a of an explicit method must be strictly lower triangular");
    static_assert(detail::rows_sum_to(tableau.a, tableau.c),
                  "tableau: the rows of a must sum to c");
    static_assert(detail::errors_sum_to_zero<Method>(), "tableau: b_error must sum to 0");
    static_assert(Method::order >= 1 && detail::satisfies_order(tableau, 1),
                  "tableau: b must sum to 1");
    static_assert(Method::order < 2 || detail::satisfies_order(tableau, 2),
                  "tableau: the conditions of order 2 fail");
    static_assert(Method::order < 3 || detail::satisfies_order(tableau, 3),
                  "tableau: the conditions of order 3 fail");
    static_assert(Method::order < 4 || detail::satisfies_order(tableau, 4),
                  "tableau: the conditions of order 4 fail");
    static_assert(Method::order < 5 || detail::satisfies_order(tableau, 5),
                  "tableau: the conditions of order 5 fail");
    static constexpr bool value = true;
};

}  // namespace eddy::inline v0
