// expect: events: an equation with algebraic components has none
// Behind an event its state would have to be made consistent once more.
#include <eddy/eddy.hpp>

struct Equilibrium {
    static constexpr int state_size = 2, parameter_size = 1;
#ifdef EDDY_BAD
    static constexpr double mass[2][2] = {{1, 0}, {0, 0}};
#else
    static constexpr double mass[2][2] = {{1, 0}, {0, 2}};
#endif
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-y[1], y[1] - p[0] * y[0]);
    }
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0]; }
};

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Equilibrium{}, eddy::Rosenbrock23{}, y0, p, {.t1 = 1}).y()(0, 0);
}
