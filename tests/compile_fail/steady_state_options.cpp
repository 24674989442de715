// expect: steady_state: its options, which have no times, are SteadyStateOptions
#include <eddy/eddy.hpp>

struct Relaxing {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] - y[0]);
    }
};

double rest_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
#ifdef EDDY_BAD
    const eddy::SolveOptions options{.t1 = 1};
#else
    const eddy::SteadyStateOptions options{.rtol = 1e-3};
#endif
    return eddy::steady_state(Relaxing{}, y0, p, options, eddy::Serial{}).y()(0, 0);
}
