#pragma once
// What the rows of a Rosenbrock tableau have in common: known when a step is compiled.
// Test: tests/steppers/rosenbrock.cpp

#include <eddy/steppers/rosenbrock_tableau.hpp>

namespace eddy::inline v0 {

/// The rows of `a`, and as the last one, with index num_stages, that of the new state.
template <RosenbrockMethod Method>
struct RosenbrockRows {
    static constexpr int num_stages = Method::coefficients.num_stages;

    [[nodiscard]] static constexpr double a(int i, int j) {
        return i == num_stages ? Method::coefficients.m[j] : Method::coefficients.a[i][j];
    }
    /// Is Y_i = Y_{i−1} + U_{i−1}? So are the last rows of methods of the Rodas family.
    [[nodiscard]] static constexpr bool extends(int i) {
        if (i == 0 || a(i, i - 1) != 1) return false;
        for (int j = 0; j < i - 1; ++j) {
            if (a(i, j) != a(i - 1, j)) return false;
        }
        return true;
    }
    /// The first stage at the same state and time: its f serves.
    [[nodiscard]] static constexpr int point(int i) {
        for (int k = 0; k < i; ++k) {
            bool is_same = Method::coefficients.c[i] == Method::coefficients.c[k];
            for (int j = 0; j < i; ++j) is_same = is_same && a(i, j) == a(k, j);
            if (is_same) return k;
        }
        return i;
    }
    [[nodiscard]] static constexpr bool is_coupled(int i) { return first_coupled(i) < i; }
    /// The first U_j that stage i is coupled with; i: none.
    [[nodiscard]] static constexpr int first_coupled(int i) {
        int j = 0;
        while (j < i && Method::coefficients.coupling[i][j] == 0) ++j;
        return j;
    }
    /// Evaluations of f in the first `stages` stages.
    [[nodiscard]] static constexpr int num_points(int stages) {
        int count = 0;
        for (int i = 0; i < stages; ++i) count += point(i) == i ? 1 : 0;
        return count;
    }
    /// How many leading stages the new state needs, and dense output.
    [[nodiscard]] static constexpr int num_needed_stages() {
        int needed = num_stages;
        while (needed > 1 && !is_read(needed - 1)) --needed;
        return needed;
    }

  private:
    [[nodiscard]] static constexpr bool is_read(int i) {
        bool read = Method::coefficients.m[i] != 0;
        for (const auto& row : Method::interpolant.h) read = read || row[i] != 0;
        return read;
    }
};

}  // namespace eddy::inline v0
