// expect: Tiles: the method must be an explicit Runge-Kutta method, such as Tsit5; for other methods leave Tiles{} out
// Tiles step by explicit tableaus.
#include <eddy/backends/tiles.hpp>
#include <eddy/eddy.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};
#ifdef EDDY_BAD
using Method = eddy::Rodas5P;
#else
using Method = eddy::Euler;
#endif

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    const eddy::SolveOptions options{.t1 = 1, .dt0 = 0.1};
    return eddy::solve(Decay{}, Method{}, y0, p, options, eddy::Tiles{}).y()(0, 0);
}
