// expect: eddy::Cpu: nvcc compiles no vector types; call it from a source that the host's
// The backend for CPUs in a source that nvcc compiles.
#include <eddy/eddy.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};
#ifdef EDDY_BAD
using Backend = eddy::Cpu;
#else
using Backend = eddy::Serial;
#endif

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Decay{}, eddy::Euler{}, y0, p, {.t1 = 1, .dt0 = 0.1}, Backend{}).y()(0, 0);
}
