// expect: Rows: events are found by explicit Runge-Kutta and Rosenbrock methods; for an ESDIRK method give a compile-time functor without Rows\{\}
// ESDIRK methods find no events over rows.
#include <eddy/runtime.hpp>
#include <eddy/solvers/kencarp4.hpp>

struct Drop {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], 0 * y[0] - p[0]);
    }
#ifdef EDDY_BAD
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0]; }
#endif
};

double height_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Drop{}, eddy::KenCarp4{}, y0, p, {.t1 = 1}, eddy::Rows{}).y()(0, 0);
}
