// expect: events: at_event\(t, y, p\) is never called, because every event is terminal: leave it out, or set event_terminal to false for some
// A lane that ends has nothing behind it.
#include <eddy/eddy.hpp>

struct Ball {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], 0 * y[0] - p[0]);
    }
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0]; }
#ifdef EDDY_BAD
    static constexpr bool event_terminal = true;
#else
    static constexpr bool event_terminal = false;
#endif
    constexpr auto at_event(auto, const auto& y, const auto&) const {
        return eddy::vec(0 * y[0], -y[1]);
    }
};

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Ball{}, eddy::Tsit5{}, y0, p, {.t1 = 1}).y()(0, 0);
}
