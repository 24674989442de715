// expect: taylor: the right-hand side has a bounded_while or a root, which have no series here; use another method, or repeat and scan
// A root is found by a loop of unknown length.
#include <eddy/eddy.hpp>

struct Relation {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
#ifdef EDDY_BAD
        return eddy::vec(-y[0] * eddy::root(p[0], [&](const auto& x) { return x * x - p[0]; }));
#else
        return eddy::vec(-y[0] * sqrt(p[0]));
#endif
    }
};

eddy::EnsembleArray<double> states_of(const eddy::EnsembleArray<double>& y0,
                                      const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Relation{}, eddy::Taylor<8>{}, y0, p, {.t1 = 1}).y(0);
}
