// expect: solve: an equation with force, friction and temperature is for Langevin methods: take ALIGN or QUICSORT
// Other methods would not know what to do with a force.
#include <eddy/eddy.hpp>

struct Pendulum {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto force(auto, const auto& x, const auto&) const { return -1. * eddy::sin(x); }
    constexpr auto friction(const auto& p) const { return p[0]; }
    constexpr auto temperature(const auto& p) const { return p[1]; }
};
#ifdef EDDY_BAD
using Method = eddy::SRA1;
#else
using Method = eddy::ALIGN;
#endif

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Pendulum{}, Method{}, y0, p, {.t1 = 1, .dt0 = 0.1}).y()(0, 0);
}
