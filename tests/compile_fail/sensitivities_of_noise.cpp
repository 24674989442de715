// expect: sensitivities: each direction would follow a path of noise of its own; call pushforward along one direction, with paths
// Lanes of noise are told apart by their numbers.
#include <eddy/eddy.hpp>

#ifdef EDDY_BAD
struct Noisy {
    static constexpr int state_size = 1, parameter_size = 1;
    static constexpr auto calculus = eddy::ito;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
    constexpr auto diffusion(auto, const auto&, const auto&) const { return eddy::vec(0.1); }
};
using Equation = Noisy;
using Scheme = eddy::EulerMaruyama;
#else
struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};
using Equation = Decay;
using Scheme = eddy::Euler;
#endif

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    const eddy::SolveOptions options{.t1 = 1, .dt0 = 0.1};
    return eddy::sensitivities(Equation{}, Scheme{}, y0, p, options).t(0);
}
