// expect: inputs: stochastic equations read none; leave input_size out
// Drift and diffusion are functions of (t, y, p).
#include <eddy/eddy.hpp>

struct Noisy {
    static constexpr int state_size = 1, parameter_size = 1;
#ifdef EDDY_BAD
    static constexpr int input_size = 1;
#endif
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
    constexpr auto diffusion(auto, const auto&, const auto& p) const { return eddy::vec(p[0]); }
};

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Noisy{}, eddy::EulerMaruyama{}, y0, p, {.t1 = 1, .dt0 = 0.1}).y()(0, 0);
}
