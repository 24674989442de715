// expect: Rows: this backend knows no mass matrix; leave Rows
// Steps over rows are made of f alone.
#include <eddy/runtime.hpp>
#include <eddy/solvers/rodas5p.hpp>

struct Constrained {
    static constexpr int state_size = 2, parameter_size = 1;
#ifdef EDDY_BAD
    static constexpr double mass[2][2] = {{1}, {}};
#endif
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0], y[0] - y[1]);
    }
};

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Constrained{}, eddy::Rodas5P{}, y0, p, {.t1 = 1}, eddy::Rows{}).y()(0, 0);
}
