#pragma once
// What follows from the rows of an ESDIRK tableau when a step is compiled: weights of the increments
// z_i = hγ k_i, and where Newton's iteration of a stage begins. Stages count from 0, the explicit one.
// Test: tests/steppers/esdirk.cpp

#include <eddy/steppers/esdirk_tableau.hpp>

namespace eddy::inline v0 {
namespace detail {

template <int stages>
constexpr double distance_in_time(const EsdirkTableau<stages>& tableau, int i, int j) {
    const double d = tableau.c[i] - tableau.c[j];
    return d < 0 ? -d : d;
}

/// The stage before i that is nearest in time, of several at one time the latest, and at a time that no
/// chosen one has; −1 where there is none.
template <int stages>
constexpr int nearest_stage(const EsdirkTableau<stages>& tableau, int i,
                            const bool (&is_chosen)[stages]) {
    int best = -1;
    for (int j = i - 1; j >= 0; --j) {
        bool is_new = true;
        for (int k = 0; k < i; ++k)
            is_new = is_new && !(is_chosen[k] && distance_in_time(tableau, j, k) == 0);
        const bool is_nearer =
            best < 0 || distance_in_time(tableau, i, j) < distance_in_time(tableau, i, best);
        if (is_new && is_nearer) best = j;
    }
    return best;
}

/// Weights of Y_j, Y_0 = y, in the state where the iteration for Y_i begins.
template <int stages>
constexpr Stages<stages> first_guess(const EsdirkTableau<stages>& tableau, int i) {
    Stages<stages> row{};
    bool is_chosen[stages]{};
    for (int points = 0; points < 3; ++points) {
        const int j = nearest_stage(tableau, i, is_chosen);
        if (j >= 0) is_chosen[j] = true;
        if (points == 0 && tableau.c[j] == tableau.c[i]) break;
    }
    for (int j = 0; j < i; ++j) {  // Lagrange's
        if (!is_chosen[j]) continue;
        row.value[j] = 1;
        for (int k = 0; k < i; ++k) {
            if (is_chosen[k] && k != j)
                row.value[j] *= (tableau.c[i] - tableau.c[k]) / (tableau.c[j] - tableau.c[k]);
        }
    }
    return row;
}

template <class Method>
struct FirstGuesses {
    static constexpr auto& tableau = Method::coefficients;
    Stages<tableau.num_stages> row[tableau.num_stages];

    constexpr FirstGuesses() : row{} {
        for (int i = 1; i < tableau.num_stages; ++i) row[i] = first_guess(tableau, i);
    }
};
template <class Method>
inline constexpr FirstGuesses<Method> first_guesses{};

}  // namespace detail

template <EsdirkMethod Method>
struct EsdirkRows {
    static constexpr auto& tableau = Method::coefficients;
    static constexpr int num_stages = tableau.num_stages;

    /// Of z_j in Y_i, j < i.
    [[nodiscard]] static constexpr double weight(int i, int j) {
        return tableau.a[i][j] / tableau.gamma;
    }
    /// Of x_j in Y_i, j < i; and, beside Y_s, in y⁺.
    [[nodiscard]] static constexpr double explicit_weight(int i, int j) {
        return Method::explicit_a[i][j] / tableau.gamma;
    }
    [[nodiscard]] static constexpr double last_explicit_weight(int j) {
        constexpr int last = num_stages - 1;
        return (tableau.full(last, j) - Method::explicit_a[last][j]) / tableau.gamma;
    }
    /// Of z_i in the error estimate.
    [[nodiscard]] static constexpr double error_weight(int i) {
        return tableau.b_error[i] / tableau.gamma;
    }
    static constexpr int num_powers = Method::interpolant.num_powers;
    /// Of θ^(m+1) z_i in dense output.
    [[nodiscard]] static constexpr double dense_weight(int i, int m) {
        return Method::interpolant.weights[i][m] / tableau.gamma;
    }
    /// Newton's iteration for Y_i begins at Σ_j first_guess(i, j) Y_j, Y_0 = y: the latest stage at the
    /// same time, else the parabola, line or constant through the stages nearest to it. No slope enters,
    /// for that of a fast component would lead astray; nothing of another step enters, so that a replay
    /// begins at the same state.
    [[nodiscard]] static constexpr double first_guess(int i, int j) {
        return detail::first_guesses<Method>.row[i].value[j];
    }
};

}  // namespace eddy::inline v0
