#pragma once
// Dense output as data: the state inside a step is a weighted sum of stage derivatives,
//
//   y(t + θ dt) = y + dt Σ_i w_i(θ) k_i,   w_i(θ) = Σ_m weights[i][m] θ^(m+1),   0 ≤ θ ≤ 1,
//
// over the stages of the step and, for some methods, a few more that no other step needs (Hairer,
// Nørsett & Wanner 1993, Solving ODEs I, II.6). A method without a table of its own has the cubic
// Hermite interpolant, which needs f at the new state: its stage (c = 1, a = b) is the first
// further one, unless the method has it already (FSAL).
// Test: tests/steppers/interpolants.cpp

#include <eddy/steppers/butcher_tableau.hpp>

namespace eddy::inline v0 {

/// Dense output of a method with `stages` stages and `extra` further ones, by polynomials of
/// `degree`. In one step from an exact state it is wrong by O(dt^(order+1)).
template <int stages, int extra, int degree>
struct InterpolantTableau {
    int order;
    double c[extra > 0 ? extra : 1] = {};
    double a[extra > 0 ? extra : 1][stages + extra] = {};
    double weights[stages + extra][degree];

    static constexpr int num_stages = stages + extra;
    static constexpr int num_extra = extra;
    static constexpr int num_powers = degree;
};

namespace detail {

/// y + (y⁺ − y)(3θ² − 2θ³) + dt k_0 (θ − 2θ² + θ³) + dt f(y⁺)(θ³ − θ²) in terms of the stages.
template <RungeKuttaMethod Method>
constexpr auto hermite_tableau() {
    constexpr auto& method = Method::tableau;
    constexpr int stages = method.num_stages, extra = is_fsal<Method> ? 0 : 1;
    InterpolantTableau<stages, extra, 3> hermite{.order = Method::order < 3 ? Method::order : 3,
                                                 .weights = {}};
    if constexpr (extra > 0) hermite.c[0] = 1;
    for (int i = 0; i < stages; ++i) {
        if constexpr (extra > 0) hermite.a[0][i] = method.b[i];
        hermite.weights[i][1] = 3 * method.b[i];
        hermite.weights[i][2] = -2 * method.b[i];
    }
    constexpr double at_start[3] = {1, -2, 1}, at_end[3] = {0, -1, 1};
    for (int m = 0; m < 3; ++m) {
        hermite.weights[0][m] += at_start[m];
        hermite.weights[stages + extra - 1][m] += at_end[m];
    }
    return hermite;
}

}  // namespace detail

/// The table of a method's dense output: its own where it has one, else the cubic Hermite
/// interpolant.
template <RungeKuttaMethod Method>
inline constexpr auto interpolant_tableau = [] {
    if constexpr (requires { Method::interpolant; }) {
        return Method::interpolant;
    } else {
        return detail::hermite_tableau<Method>();
    }
}();

namespace detail {

/// How to compute all stages that dense output reads: the method's own rows, then those of the further
/// stages, which have no weight in y⁺.
template <RungeKuttaMethod Method>
inline constexpr auto stage_tableau = [] {
    constexpr auto& method = Method::tableau;
    constexpr auto& further = interpolant_tableau<Method>;
    constexpr int own = method.num_stages, count = further.num_stages;
    ButcherTableau<count> all{};
    for (int i = 0; i < count; ++i) {
        all.c[i] = i < own ? method.c[i] : further.c[i - own];
        for (int j = 0; j < i; ++j) all.a[i][j] = i < own ? method.a[i][j] : further.a[i - own][j];
    }
    for (int i = 0; i < own; ++i) {
        all.b[i] = method.b[i];
        all.b_error[i] = method.b_error[i];
    }
    return all;
}();

}  // namespace detail

/// True if the dense output of the method has too low an order for its steps. Over many steps the
/// states have an error of O(dt^order), and the interpolant has one of O(dt^(its order + 1)). If
/// the second exponent is smaller than the first, a solve ends a step at every save point.
template <RungeKuttaMethod Method>
inline constexpr bool steps_to_save_points = interpolant_tableau<Method>.order + 1 < Method::order;

}  // namespace eddy::inline v0
