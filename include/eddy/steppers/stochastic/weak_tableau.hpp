#pragma once
// A stochastic Runge–Kutta method of weak order 2 for noises that need not commute, as data: the form of
// Debrabant & Rößler 2009 (Appl. Numer. Math. 59(3-4), doi:10.1016/j.apnum.2008.03.012), in the sense
// of Itô. Stage i has a state Y_i for the drift f and, for the column g_k of each noise, two of its own,
// the second of which the other noises push:
//
//     Y_i  = y + Σ_j  a_ij h f_j      +  a_w_ij Σ_l g_lj W_l          f_i  = f(t + c_i h, Y_i)
//     Y_ki = y + Σ_j  a_own_ij h f_j  +  a_root_ij √h g_kj            g_ki = g_k(t + c_own_i h, Y_ki)
//     Z_ki = y + Σ_j  a_cross_ij Σ_{l≠k} g_lj I_kl/√h
//     y⁺   = y + Σ_i  b_i h f_i  +  Σ_k g_ki (b_w_i W_k + b_w2_i (W_k² − h)/(2√h))
//                                    + g_k(t, Z_ki) (b_cross_w_i W_k + b_cross_root_i √h)
//
// W_k and I_kl, which stands for the mixed integral of two noises, are those of weak_noise.hpp. Stage 0 is y.
// Test: tests/steppers/weak_order.cpp, tests/steppers/weak_general.cpp

#include <eddy/steppers/stochastic/stochastic_tableau.hpp>

namespace eddy::inline v0 {

template <int stages>
struct WeakTableau {
    static constexpr int num_stages = stages;
    double c[stages]{};
    double a[stages][stages]{};
    double a_w[stages][stages]{};
    double c_own[stages]{};
    double a_own[stages][stages]{};
    double a_root[stages][stages]{};
    double a_cross[stages][stages]{};
    double b[stages]{};
    double b_w[stages]{};
    double b_w2[stages]{};
    double b_cross_w[stages]{};
    double b_cross_root[stages]{};
};

/// A method with such a table beside the one for noises that commute.
template <class Method>
concept WeakMethod = StochasticMethod<Method> && requires {
    { Method::weak.num_stages } -> std::convertible_to<int>;
};

/// The defects of such a table: conditions of weak order 2, ibid., theorem 3.1, as far as they are sums
/// over the rows.
template <WeakMethod Method>
struct ValidWeakTableau {
    static constexpr auto& table = Method::weak;
    static constexpr int stages = table.num_stages;

    /// Σ_i weights_i (Σ_j rows_ij)^power.
    static constexpr double moment(const double (&weights)[stages],
                                   const double (&rows)[stages][stages], int power) {
        double total = 0;
        for (int i = 0; i < stages; ++i) {
            double row = 0, term = weights[i];
            for (int j = 0; j < stages; ++j) row += rows[i][j];
            for (int k = 0; k < power; ++k) term *= row;
            total += term;
        }
        return total;
    }
    static constexpr bool is_near(double x, double y) { return x - y < 1e-12 && y - x < 1e-12; }
    /// Are the first moments these?
    static constexpr bool has_moments(const double (&weights)[stages],
                                      const double (&rows)[stages][stages], double zeroth,
                                      double first) {
        return is_near(moment(weights, rows, 0), zeroth) &&
               is_near(moment(weights, rows, 1), first);
    }

    static_assert(detail::is_strictly_lower(table.a) && detail::is_strictly_lower(table.a_w) &&
                      detail::is_strictly_lower(table.a_own) &&
                      detail::is_strictly_lower(table.a_root),
                  "weak tableau: a stage may read only earlier ones");
    static_assert(has_moments(table.b, table.a, 1, 0.5) &&
                      has_moments(table.b, table.a_w, 1, 0.5) &&
                      is_near(moment(table.b, table.a_w, 2), 0.5),
                  "weak tableau: the drift's weights b, with a and a_w");
    static_assert(has_moments(table.b_w, table.a_own, 1, 0.5) &&
                      has_moments(table.b_w, table.a_root, 1, 0) &&
                      is_near(moment(table.b_w, table.a_root, 2), 0.5) &&
                      has_moments(table.b_w2, table.a_root, 0, 1),
                  "weak tableau: the weights b_w and b_w2, with a_own and a_root");
    static_assert(has_moments(table.b_cross_w, table.a_cross, 0, 0) &&
                      is_near(moment(table.b_cross_w, table.a_cross, 2), 0.5) &&
                      has_moments(table.b_cross_root, table.a_cross, 0, 1),
                  "weak tableau: the weights b_cross_w and b_cross_root, with a_cross");
    static constexpr bool value = true;
};

}  // namespace eddy::inline v0
