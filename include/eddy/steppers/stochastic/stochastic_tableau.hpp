#pragma once
// A stochastic Runge–Kutta method as data. Stage i is taken at time t + c_i h in the state
//
//     Y_i = y + Σ_j  a_ij h f(Y_j)  +  g(Y_j) (a_w_ij W + a_h_ij H + a_root_ij √h)
//     y⁺  = y + Σ_i  b_i h f(Y_i)   +  g(Y_i) (b_w_i W + b_h_i H + b_w2_i (W² − h)/(2√h)
//                                              + b_w3_i (W³ − 3hW)/(6h))
//             + b_slope_i (g·∇) g(Y_i) W²/2,  less h/2 in the sense of Itô
//
// and where it has one, the estimate of its error is the same sum with the weights e in place of b.
// with the increment W and the space-time Lévy area H of each noise. What has no weight is not
// computed. The form holds those of Rößler (2010), of Foster, dos Reis & Strange (2024) and of
// methods for additive noise, where a stage reads g at a time alone.
// Test: tests/steppers/stochastic.cpp, tests/steppers/methods_page.cpp

#include <eddy/core/host_device.hpp>
#include <eddy/steppers/butcher_tableau.hpp>
#include <eddy/steppers/stochastic/sde_term.hpp>

namespace eddy::inline v0 {

template <int stages>
struct StochasticTableau {
    static constexpr int num_stages = stages;
    double c[stages]{};
    double a[stages][stages]{};
    double b[stages]{};
    double a_w[stages][stages]{};
    double b_w[stages]{};
    double a_h[stages][stages]{};
    double b_h[stages]{};
    double a_root[stages][stages]{};
    double b_w2[stages]{};
    double b_w3[stages]{};
    double b_slope[stages]{};
    double e[stages]{};
    double e_w[stages]{};
    double e_h[stages]{};
    double e_w3[stages]{};

    [[nodiscard]] constexpr bool estimates_error() const {
        for (int i = 0; i < stages; ++i) {
            if (e[i] != 0 || e_w[i] != 0 || e_h[i] != 0 || e_w3[i] != 0) return true;
        }
        return false;
    }
};

/// A method with such a table, the calculus whose solution it converges to, the most demanding noise
/// for which it has its `strong_order`, and its weak order. With `three_point_noise`, W has three
/// values alone, and the method follows no path: its strong order is 0.
template <class Method>
concept StochasticMethod = requires {
    { Method::stochastic.num_stages } -> std::convertible_to<int>;
    { Method::calculus } -> std::convertible_to<Calculus>;
    { Method::noise } -> std::convertible_to<NoiseClass>;
    { Method::strong_order } -> std::convertible_to<double>;
    { Method::weak_order } -> std::convertible_to<double>;
};

namespace detail {

/// What a table needs: what is read of the field in stage j, and of the path.
template <int stages>
struct TableauNeeds {
    bool drift[stages]{};
    bool diffusion[stages]{};
    bool slope[stages]{};
    bool area = false, root = false, square = false, cube = false, slopes = false;
};
template <int stages>
[[nodiscard]] constexpr TableauNeeds<stages> needs_of(const StochasticTableau<stages>& table) {
    TableauNeeds<stages> needs;
    for (int j = stages - 1; j >= 0; --j) {
        needs.drift[j] = table.b[j] != 0;
        needs.diffusion[j] =
            table.b_w[j] != 0 || table.b_h[j] != 0 || table.b_w2[j] != 0 || table.b_w3[j] != 0;
        needs.slope[j] = table.b_slope[j] != 0;
        needs.slopes = needs.slopes || needs.slope[j];
        needs.square = needs.square || table.b_w2[j] != 0;
        needs.cube = needs.cube || table.b_w3[j] != 0;
        needs.area = needs.area || table.b_h[j] != 0;
        for (int i = j + 1; i < stages; ++i) {
            needs.drift[j] = needs.drift[j] || table.a[i][j] != 0;
            needs.diffusion[j] = needs.diffusion[j] || table.a_w[i][j] != 0 ||
                                 table.a_h[i][j] != 0 || table.a_root[i][j] != 0;
            needs.area = needs.area || table.a_h[i][j] != 0;
            needs.root = needs.root || table.a_root[i][j] != 0;
        }
    }
    return needs;
}

}  // namespace detail

/// The defects of a table, each with its own sentence.
template <StochasticMethod Method>
struct ValidStochasticTableau {
    static constexpr auto& table = Method::stochastic;
    static constexpr double sum(const double (&weights)[Method::stochastic.num_stages]) {
        double total = 0;
        for (const double weight : weights) total += weight;
        return total < 0 ? -total : total;
    }
    static constexpr bool is_near(double x, double y) { return x - y < 1e-12 && y - x < 1e-12; }
    static_assert(detail::is_strictly_lower(table.a) && detail::is_strictly_lower(table.a_w) &&
                      detail::is_strictly_lower(table.a_h) &&
                      detail::is_strictly_lower(table.a_root),
                  "stochastic tableau: a stage may read only earlier ones");
    static_assert(is_near(sum(table.b), 1), "stochastic tableau: the weights b must sum to 1");
    static_assert(is_near(sum(table.b_w), 1), "stochastic tableau: the weights b_w must sum to 1");
    static_assert(is_near(sum(table.b_h), 0), "stochastic tableau: the weights b_h must sum to 0");
    static_assert(is_near(sum(table.e), 0) && is_near(sum(table.e_h), 0),
                  "stochastic tableau: the weights e and e_h must each sum to 0");
    static constexpr bool says_what_it_has() {
        if constexpr (requires { Method::has_error_estimate; })
            return Method::has_error_estimate == table.estimates_error();
        return true;
    }
    static_assert(says_what_it_has(),
                  "stochastic tableau: has_error_estimate says whether there are weights e");
    static constexpr bool value = true;
};

/// A table for W alone whose noise has the weights of the drift: what a Runge–Kutta tableau makes of
/// a path. Order 1 in the sense of Stratonovich for commutative noise, whatever the order without noise: a
/// step takes the path for its chord. What an embedded method of order 2 or more estimates is the error along
/// the chord, so that it is no estimate here.
template <RungeKuttaMethod Method>
struct AlongPath {
    static constexpr Calculus calculus =
        Method::order == 1 ? Calculus::ito : Calculus::stratonovich;
    static constexpr NoiseClass noise =
        Method::order == 1 ? NoiseClass::general : NoiseClass::commutative;
    static constexpr double strong_order = Method::order == 1 ? 0.5 : 1;
    static constexpr double weak_order = 1;
    static constexpr auto stochastic = [] {
        constexpr int stages = Method::tableau.num_stages;
        StochasticTableau<stages> table;
        for (int i = 0; i < stages; ++i) {
            table.c[i] = Method::tableau.c[i];
            table.b[i] = table.b_w[i] = Method::tableau.b[i];
            if (Method::order <= 2) table.e[i] = table.e_w[i] = Method::tableau.b_error[i];
            for (int j = 0; j < i; ++j) table.a[i][j] = table.a_w[i][j] = Method::tableau.a[i][j];
        }
        return table;
    }();
    static constexpr bool has_error_estimate = stochastic.estimates_error();
};

}  // namespace eddy::inline v0
