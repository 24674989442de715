// Problems without surprises: Lotka-Volterra, a driven oscillator in single precision.

#include <eddy/solvers/bosh3.hpp>
#include <eddy/solvers/tsit5.hpp>

#include "fuzz/problem_of.hpp"

namespace fuzz {

namespace {

struct LotkaVolterra {
    static constexpr int state_size = 2, parameter_size = 4;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]);
    }
};
void make_lotka_volterra(Random& random, double* y0, double* p) {
    for (int i = 0; i < 2; ++i) y0[i] = random.uniform(0.2, 3);
    for (int i = 0; i < 4; ++i) p[i] = random.uniform(0.2, 2);
}

struct DrivenOscillator {
    static constexpr int state_size = 2, parameter_size = 3;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(y[1], p[0] * eddy::cos(t) - p[1] * y[0] - p[2] * y[1]);
    }
};
void make_driven_oscillator(Random& random, double* y0, double* p) {
    for (int i = 0; i < 2; ++i) y0[i] = random.uniform(-1, 1);
    p[0] = random.uniform(-1, 1);
    p[1] = random.uniform(0, 1);
    p[2] = random.uniform(0, 1);
}

}  // namespace

void add_smooth_problems(ProblemList& list) {
    constexpr What lotka_volterra{.autonomous = true, .pushes = true, .pulls = true, .loses = true};
    list.push_back(std::make_unique<ProblemOf<LotkaVolterra, eddy::Tsit5, double, lotka_volterra>>(
        "Lotka-Volterra, Tsit5, double", 2, make_lotka_volterra));
    constexpr What oscillator{.shared = true,
                              .well_posed = true,
                              .pushes = true,
                              .pulls = true,
                              .serial_gradients = true};
    list.push_back(std::make_unique<ProblemOf<DrivenOscillator, eddy::Bosh3, float, oscillator>>(
        "driven oscillator, Bosh3, float, shared parameters", 2, make_driven_oscillator));
}

}  // namespace fuzz
