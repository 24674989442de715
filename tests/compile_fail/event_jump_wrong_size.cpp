// expect: events: at_event\(t, y, p\) must return state_size components, the state after the event
// A jump gives the whole state.
#include <eddy/eddy.hpp>

struct Ball {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], 0 * y[0] - p[0]);
    }
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0]; }
#ifdef EDDY_BAD
    constexpr auto at_event(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[1] * y[1]);
    }
#else
    constexpr auto at_event(auto, const auto& y, const auto& p) const {
        return eddy::vec(0 * y[0], -p[1] * y[1]);
    }
#endif
};

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Ball{}, eddy::Tsit5{}, y0, p, {.t1 = 1}).y()(0, 0);
}
