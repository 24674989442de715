// Problems with discontinuities, with derivatives with respect to times, and without anything: no
// parameters, a right-hand side of zero.

#include <eddy/solvers/bosh3.hpp>
#include <eddy/solvers/rk4.hpp>

#include "fuzz/problem_of.hpp"

namespace fuzz {

namespace {

/// Jumps in t at p2, and in y0 at zero.
struct Switch {
    static constexpr int state_size = 2, parameter_size = 3;
    constexpr auto operator()(auto t, const auto& y, const auto& p) const {
        return eddy::vec(eddy::select(t < p[2], p[0] * y[1], -p[1] * y[0]),
                         eddy::select(y[0] < 0, 1 - y[1], eddy::sin(3 * t) - y[1]));
    }
};
void make_switch(Random& random, double* y0, double* p) {
    for (int i = 0; i < 2; ++i) y0[i] = random.uniform(-1, 1);
    for (int i = 0; i < 3; ++i) p[i] = random.uniform(0, 1.5);
}

struct Nothing {
    static constexpr int state_size = 1, parameter_size = 0;
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        return eddy::vec(0 * y[0]);
    }
};
void make_nothing(Random& random, double* y0, double*) { y0[0] = random.uniform(-5, 5); }

}  // namespace

void add_switching_problems(ProblemList& list) {
    constexpr What switching{.differentiates_times = true, .pushes = true, .pulls = true};
    list.push_back(std::make_unique<ProblemOf<Switch, eddy::Bosh3, double, switching>>(
        "switch, Bosh3, double, times", 2, make_switch));
    constexpr What nothing{.autonomous = true, .well_posed = true, .pushes = true, .loses = true};
    list.push_back(std::make_unique<ProblemOf<Nothing, eddy::RK4, float, nothing>>(
        "nothing, RK4, float", 1, make_nothing));
}

}  // namespace fuzz
