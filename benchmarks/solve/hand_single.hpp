#pragma once
// One adaptive Lorenz trajectory with its gradient, by the scalar loop of hand_lorenz.hpp: compiled
// apart, with the options of a program of its own.

#include <array>
#include <cstddef>
#include <memory>

namespace benchmark {

class HandSingle {
  public:
    struct Answer {
        double loss;
        std::array<double, 3> y0, p;  // gradients; p by σ, ρ, β
        std::size_t num_steps;
    };

    HandSingle();
    ~HandSingle();
    HandSingle(const HandSingle&) = delete;
    HandSingle& operator=(const HandSingle&) = delete;

    /// |y(1)|² for y(0) = (1, 0, 0), and its gradient.
    [[nodiscard]] Answer value_and_gradient(double rho, double rtol, double atol);

  private:
    struct Lorenz;
    std::unique_ptr<Lorenz> lorenz_;
};

}  // namespace benchmark
