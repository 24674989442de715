#include "hand_single.hpp"

#include "hand_lorenz.hpp"

namespace benchmark {

struct HandSingle::Lorenz : HandLorenz<double> {};

HandSingle::HandSingle() : lorenz_(std::make_unique<Lorenz>()) {}
HandSingle::~HandSingle() = default;

HandSingle::Answer HandSingle::value_and_gradient(double rho, double rtol, double atol) {
    lorenz_->rho = rho;
    const auto y = lorenz_->solve_adaptive({1, 0, 0}, 1, {rtol, atol});
    const auto gradient = lorenz_->pull_back(2. * y);
    return {y.x * y.x + y.y * y.y + y.z * y.z,
            {gradient.y0.x, gradient.y0.y, gradient.y0.z},
            {gradient.p.x, gradient.p.y, gradient.p.z},
            lorenz_->num_steps()};
}

}  // namespace benchmark
