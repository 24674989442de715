#pragma once
// Linear systems drawn from a seed, beside the zoo (stability_zoo.hpp).

#include "support/random.hpp"
#include "support/stability_zoo.hpp"

namespace zoo {

/// A linear system drawn from a seed: decaying modes, in three of ten a complex pair; half of the
/// modes lie at zero.
template <int n>
Lane random_system(support::Random& random) {
    const auto uniform = [&](double from, double to) { return random.uniform(from, to); };
    const auto spread = [&](double from, double to) {
        return std::exp(uniform(std::log(from), std::log(to)));
    };
    Lane lane;
    lane.t1 = spread(0.5, 10);
    double modes[n][n] = {}, basis[n][n], inverse[n][n] = {};
    for (int i = 0; i < n; ++i) modes[i][i] = -spread(0.1, i == 0 ? 2 : 300);
    if (random.uniform(0, 1) < 0.3) {
        const double omega = spread(1, 100),
                     damping = random.uniform(0, 1) < 0.5 ? 0 : spread(1e-3, 1);
        modes[n - 2][n - 2] = modes[n - 1][n - 1] = -damping * omega;
        modes[n - 2][n - 1] = omega;
        modes[n - 1][n - 2] = -omega;
        lane.name = "complex";
    } else {
        lane.name = "real";
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) basis[i][j] = (i == j ? 1 : 0) + uniform(-0.4, 0.4) / n;
    }
    // The inverse by Gauss and Jordan: the basis is dominated by its diagonal.
    double work[n][n];
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) work[i][j] = basis[i][j];
        inverse[i][i] = 1;
    }
    for (int k = 0; k < n; ++k) {
        const double pivot = work[k][k];
        for (int j = 0; j < n; ++j) work[k][j] /= pivot, inverse[k][j] /= pivot;
        for (int i = 0; i < n; ++i) {
            const double factor = work[i][k];
            if (i == k) continue;
            for (int j = 0; j < n; ++j) {
                work[i][j] -= factor * work[k][j];
                inverse[i][j] -= factor * inverse[k][j];
            }
        }
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int k = 0; k < n; ++k) {
                for (int l = 0; l < n; ++l) sum += basis[i][k] * modes[k][l] * inverse[l][j];
            }
            lane.p.push_back(sum);
        }
        lane.rate = std::max(lane.rate,
                             std::abs(modes[i][i]) + (n > 1 ? std::abs(modes[n - 2][n - 1]) : 0));
    }
    double content[n];
    for (int k = 0; k < n; ++k)
        content[k] = k == 0 || random.uniform(0, 1) < 0.5 ? uniform(0.5, 2) : 0;
    for (int i = 0; i < n; ++i) {
        double sum = 0;
        for (int k = 0; k < n; ++k) sum += basis[i][k] * content[k];
        lane.y0.push_back(sum);
        lane.cotangent.push_back(uniform(-1, 1));
    }
    return lane;
}

}  // namespace zoo
