// One trajectory in fixed steps, and the gradient of its end with respect to start and parameters.
#include <cmath>
#include <cstdio>
#include <eddy/eddy.hpp>
#include <vector>

struct Decay {  // dy/dt = -p y, so y(1) = y(0) exp(-p)
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-(p[0] * y[0]));
    }
};

int main() {
    using Stepper = eddy::ExplicitRungeKutta<Decay, eddy::Tsit5>;
    using Vec = eddy::Vec<double, 1>;
    constexpr int num_steps = 32;
    constexpr double dt = 1.0 / num_steps;
    const Vec p{{0.7}};

    std::vector<Vec> y{Vec{{2}}};
    for (int step = 0; step < num_steps; ++step)
        y.push_back(Stepper::step(step * dt, y.back(), p, dt));

    Vec cotangent{{1}}, p_cotangent{};
    for (int step = num_steps; step-- > 0;)
        cotangent = Stepper::pullback(step * dt, y[static_cast<std::size_t>(step)], p, dt,
                                      cotangent, p_cotangent);

    const double factor = std::exp(-0.7);
    std::printf("y(1) = %.12f, d/dy(0) = %.12f, d/dp = %.12f\n", y.back()[0], cotangent[0],
                p_cotangent[0]);
    const auto is = [](double x, double exact) { return std::abs(x - exact) < 1e-10; };
    return is(y.back()[0], 2 * factor) && is(cotangent[0], factor) &&
                   is(p_cotangent[0], -2 * factor)
               ? 0
               : 1;
}
