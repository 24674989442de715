// expect: events: there is a member `at_event`, but no `event` whose roots are the events; give both
// A jump without an event would never be made.
#include <eddy/eddy.hpp>

struct Ball {
    static constexpr int state_size = 2, parameter_size = 2;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], 0 * y[0] - p[0]);
    }
#ifndef EDDY_BAD
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0]; }
#endif
    constexpr auto at_event(auto, const auto& y, const auto& p) const {
        return eddy::vec(0 * y[0], -p[1] * y[1]);
    }
};

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Ball{}, eddy::Tsit5{}, y0, p, {.t1 = 1}).y()(0, 0);
}
