#pragma once
// What an explicit Runge–Kutta method does to y' = λy in a step of size h: y⁺ = R(z) y, z = hλ, a
// polynomial (Hairer & Wanner 1996, Solving ODEs II, IV.2):
//
//   R(z) = 1 + Σ_k γ_k z^k,   γ_k = bᵀ A^(k−1) 1
//
// Where z leaves the region |R(z)| ≤ 1 a decaying mode grows from step to step. How far that region
// reaches along the negative real axis is the method's stability length.
// Test: tests/steppers/stiffness.cpp, tests/steppers/adjoint_watch.cpp

#include <eddy/steppers/butcher_tableau.hpp>

namespace eddy::inline v0 {

/// The coefficients of R, those of z⁰, z¹, …
template <int stages>
struct StabilityPolynomial {
    double gamma[stages + 1];

    [[nodiscard]] constexpr double at(double z) const {
        double sum = 0;
        for (int k = stages; k >= 0; --k) sum = sum * z + gamma[k];
        return sum;
    }
};

template <RungeKuttaMethod Method>
inline constexpr auto stability_polynomial = [] {
    constexpr auto& tableau = Method::tableau;
    constexpr int stages = Method::tableau.num_stages;
    StabilityPolynomial<stages> polynomial{{1}};
    detail::Stages<stages> powers{};  // A^(k−1) 1
    for (double& value : powers.value) value = 1;
    for (int k = 1; k <= stages; ++k) {
        for (int i = 0; i < stages; ++i) polynomial.gamma[k] += tableau.b[i] * powers.value[i];
        powers = detail::product(tableau.a, powers);
    }
    return polynomial;
}();

namespace detail {

/// The smallest x > 0 beyond which |R(−x)| > 1.
template <int stages>
[[nodiscard]] constexpr double reach_of(const StabilityPolynomial<stages>& polynomial) {
    const auto is_stable = [&](double x) {
        const double growth = polynomial.at(-x);
        return growth <= 1 && growth >= -1;
    };
    double inside = 1. / 64;
    while (is_stable(inside + 1. / 64)) inside += 1. / 64;
    double outside = inside + 1. / 64;
    for (int halving = 0; halving < 48; ++halving) {
        const double middle = (inside + outside) / 2;
        (is_stable(middle) ? inside : outside) = middle;
    }
    return inside;
}

}  // namespace detail

/// The smallest x > 0 beyond which |R(−x)| > 1.
template <RungeKuttaMethod Method>
inline constexpr double stability_length = detail::reach_of(stability_polynomial<Method>);

}  // namespace eddy::inline v0
