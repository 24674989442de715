// expect: solve: ALIGN and QUICSORT are for Langevin's equation: the field must be a struct
// Langevin methods take friction and noise from members of their own.
#include <eddy/eddy.hpp>

struct Pendulum {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto force(auto, const auto& x, const auto&) const { return -1. * eddy::sin(x); }
    constexpr auto friction(const auto& p) const { return p[0]; }
    constexpr auto temperature(const auto& p) const { return p[1]; }
};
struct Oscillator {
    static constexpr int state_size = 2, parameter_size = 2;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], -1. * y[0] - p[0] * y[1]);
    }
    constexpr auto diffusion(auto, const auto&, const auto& p) const { return eddy::vec(0., p[1]); }
};
#ifdef EDDY_BAD
using Field = Oscillator;
#else
using Field = Pendulum;
#endif

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Field{}, eddy::QUICSORT{}, y0, p, {.t1 = 1, .dt0 = 0.1}).y()(0, 0);
}
