// expect: Rows: this backend solves ordinary equations; leave Rows\{\} out
// Equations over rows have no noise.
#include <eddy/backends/rows.hpp>
#include <eddy/eddy.hpp>

struct Growth {
    static constexpr int state_size = 1, parameter_size = 2;
    static constexpr auto calculus = eddy::stratonovich;
    constexpr auto drift(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[0] * y[0]);
    }
    constexpr auto diffusion(auto, const auto& y, const auto& p) const {
        return eddy::vec(p[1] * y[0]);
    }
};
#ifdef EDDY_BAD
using Backend = eddy::Rows;
#else
using Backend = eddy::Cpu;
#endif

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Growth{}, eddy::Heun{}, y0, p, {.t1 = 1, .dt0 = 0.1}, Backend{}).y()(0, 0);
}
