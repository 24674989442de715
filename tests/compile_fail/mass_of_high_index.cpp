// expect: its algebraic equations, those of the rows that `mass` leaves without a derivative, do not determine its algebraic components
// A pendulum whose force is found by its length would have index 3.
#include <eddy/eddy.hpp>

struct Forced {
    static constexpr int state_size = 2, parameter_size = 1;
    static constexpr double mass[2][2] = {{1, 0}, {0, 0}};
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
#ifdef EDDY_BAD
        return eddy::vec(y[1], y[0] - p[0]);
#else
        return eddy::vec(y[1], y[1] + y[0] - p[0]);
#endif
    }
};

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Forced{}, eddy::Rosenbrock23{}, y0, p, {.t1 = 1}).y()(0, 0);
}
