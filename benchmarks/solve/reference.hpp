#pragma once
// The Lorenz equations of all these programs, y0 = (1, 0, 0), σ = 10, β = 8/3, ρ evenly from 0 to
// 21, t from 0 to 1 and the loss |y(1)|²; their solution and gradient to more digits than any arm
// reaches, by an independent scalar integrator.

#include <cstddef>
#include <vector>

namespace benchmark {

/// ρ of a lane.
[[nodiscard]] inline double rho_of(std::ptrdiff_t lane, std::ptrdiff_t num_lanes) {
    return 21 * static_cast<double>(lane) / static_cast<double>(num_lanes - 1);
}

/// Of every `stride`-th of `num_lanes` lanes, one after another: y(1), and the gradient with
/// respect to σ, ρ, β.
struct Reference {
    std::vector<double> y, gradient;
};

[[nodiscard]] Reference reference(std::ptrdiff_t num_lanes, std::ptrdiff_t stride);

/// The gradient of a single lane.
[[nodiscard]] std::vector<double> reference_gradient(double rho);

}  // namespace benchmark
