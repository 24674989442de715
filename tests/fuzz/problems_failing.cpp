// Problems whose lanes fail: poles, roots and logarithms that leave their domains, decay that is
// stiff for an explicit method.

#include <eddy/solvers/dopri8.hpp>
#include <eddy/solvers/fehlberg78.hpp>

#include "fuzz/problem_of.hpp"

namespace fuzz {

namespace {

/// y0' = p0 y0² has a pole; −p1 √y1 reaches zero in finite time; log(y2) leaves its domain.
struct Poles {
    static constexpr int state_size = 3, parameter_size = 3;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0] * y[0], -p[1] * eddy::sqrt(y[1]), p[2] * eddy::log(y[2]));
    }
};
void make_poles(Random& random, double* y0, double* p) {
    for (int i = 0; i < 3; ++i) {
        y0[i] = random.uniform(0.1, 2);
        p[i] = random.one_in(4) ? 0 : random.uniform(-0.5, 1.5);
    }
}

struct StiffDecay {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * (y[0] - eddy::sin(t)), y[0] - p[1] * y[1]);
    }
};
void make_stiff_decay(Random& random, double* y0, double* p) {
    for (int i = 0; i < 2; ++i) {
        y0[i] = random.uniform(-2, 2);
        p[i] = std::exp(random.uniform(-2, 7));
    }
}
struct Energy {
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(0.5 * eddy::dot(y, y), t * p[0] + y[1], y[0] * y[1]);
    }
};

}  // namespace

void add_failing_problems(ProblemList& list) {
    constexpr What poles{
        .autonomous = true, .pushes = true, .pulls = true, .serial_gradients = true};
    list.push_back(std::make_unique<ProblemOf<Poles, eddy::Dopri8, double, poles>>(
        "poles, Dopri8, double", 3, make_poles));
    constexpr What decay{.pushes = true, .pulls = true, .serial_gradients = true};
    list.push_back(std::make_unique<ProblemOf<StiffDecay, eddy::Fehlberg78, double, decay, Energy>>(
        "stiff decay, Fehlberg78, double, observed", 3, make_stiff_decay));
}

}  // namespace fuzz
