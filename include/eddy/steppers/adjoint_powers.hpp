#pragma once
// Powers of hJᵀ that the adjoint of an explicit Runge–Kutta step contains. Where the Jacobian J is the
// same at all stages, the stage products Ȳ_i = hJᵀ(b_i λ + Σ_j a_ji Ȳ_j) of explicit_rk.hpp are sums
//
//   Ȳ_i = Σ_q M_iq v_q,   v_q = (hJᵀ)^q λ,   row i of M = shift(b_i e_0 + Σ_{j>i} a_ji row j)
//
// with numbers M of the tableau alone. Row i reaches no further than the number of stages from i on,
// so that elimination from the last stage to the first solves for v_1, v_2, …: weights W with
// v_q = Σ_i W_qi Ȳ_i, which cost a pullback n multiply-adds for each that is not zero. High powers show
// the stiffest mode of J even where λ holds little of it. Why, with figures:
// docs/design/stable_gradients.md.

#include <eddy/steppers/butcher_tableau.hpp>

namespace eddy::inline v0 {

/// Weights of the stage products of an adjoint step; `stages` counts those that y⁺ needs.
template <int stages>
struct AdjointPowers {
    int highest;                        // power that all below can be solved for, and itself
    double weight[stages + 1][stages];  // (power, stage); that of power 0 is λ itself
};

namespace detail {

/// A sum of powers, as the stage products make it.
template <int stages>
struct PowerSum {
    double coefficient[stages + 1];  // (power)
    double weight[stages];           // (stage)

    constexpr void subtract(double factor, const PowerSum& other) {
        for (int q = 0; q <= stages; ++q) coefficient[q] -= factor * other.coefficient[q];
        for (int i = 0; i < stages; ++i) weight[i] -= factor * other.weight[i];
    }
};

/// Row `i` of M from the rows behind it.
template <int stages, class Tableau>
constexpr PowerSum<stages> power_row(const Tableau& tableau, int i,
                                     const PowerSum<stages> (&rows)[stages]) {
    PowerSum<stages> row{};
    row.weight[i] = 1;
    row.coefficient[1] = tableau.b[i];
    for (int j = i + 1; j < stages; ++j) {
        for (int q = 1; q < stages; ++q)
            row.coefficient[q + 1] += tableau.a[j][i] * rows[j].coefficient[q];
    }
    return row;
}

}  // namespace detail

/// The weights of a method whose new state needs `stages` stages.
template <RungeKuttaMethod Method, int stages>
inline constexpr AdjointPowers<stages> adjoint_powers = [] {
    using Sum = detail::PowerSum<stages>;
    Sum rows[stages]{};
    Sum solved[stages + 1]{};  // (power) a sum with no higher one; its own has coefficient 1
    bool is_solved[stages + 1]{};
    for (int i = stages - 1; i >= 0; --i) {
        rows[i] = detail::power_row<stages>(Method::tableau, i, rows);
        Sum rest = rows[i];
        for (int q = stages; q > 0; --q) {
            const double leading = rest.coefficient[q];
            if (leading < 1e-12 && leading > -1e-12) continue;
            if (is_solved[q]) {
                rest.subtract(leading, solved[q]);
                continue;
            }
            for (double& c : rest.coefficient) c /= leading;
            for (double& w : rest.weight) w /= leading;
            solved[q] = rest;
            is_solved[q] = true;
            break;
        }
    }
    AdjointPowers<stages> powers{};
    while (powers.highest < stages && is_solved[powers.highest + 1]) {
        Sum& sum = solved[++powers.highest];
        for (int q = powers.highest - 1; q > 0; --q) sum.subtract(sum.coefficient[q], solved[q]);
        for (int i = 0; i < stages; ++i) {  // what rounding leaves of a zero is none
            const double w = sum.weight[i];
            powers.weight[powers.highest][i] = w < 1e-9 && w > -1e-9 ? 0 : w;
        }
    }
    return powers;
}();

}  // namespace eddy::inline v0
