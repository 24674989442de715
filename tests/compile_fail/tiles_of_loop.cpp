// expect: Tiles: a loop of the language \(repeat, bounded_while, scan, root, at\) inside the right-hand side is not computed on tiles; leave Tiles\{\} out
// Tiles compute no loops of the language.
#include <eddy/backends/tiles.hpp>
#include <eddy/eddy.hpp>

struct Relation {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto step = [&](const auto& x) { return 0.5 * (x + p[0] / x); };
#ifdef EDDY_BAD
        return eddy::vec(-y[0] * eddy::repeat<2>(p[0], step));
#else
        return eddy::vec(-y[0] * step(step(p[0])));
#endif
    }
};

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Relation{}, eddy::Tsit5{}, y0, p, {.t1 = 1}, eddy::Tiles{}).y(0)(0, 0);
}
