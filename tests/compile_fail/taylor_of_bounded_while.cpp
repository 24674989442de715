// expect: taylor: the right-hand side has a bounded_while or a root, which have no series here; use another method, or repeat and scan
// The coefficients of a series come one after another, and each would need all the turns of the one before.
#include <eddy/eddy.hpp>

struct Relation {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        const auto step = [&](const auto& x) { return 0.5 * (x + p[0] / x); };
#ifdef EDDY_BAD
        const auto far = [&](const auto& x) { return abs(x * x - p[0]) > 1e-12; };
        return eddy::vec(-y[0] * eddy::bounded_while<9>(p[0], far, step));
#else
        return eddy::vec(-y[0] * eddy::repeat<9>(p[0], step));
#endif
    }
};
constexpr auto series = eddy::taylor<4>(eddy::trace_field(Relation{}));
