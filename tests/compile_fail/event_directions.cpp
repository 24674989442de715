// expect: events: event_direction must be one eddy::Crossing, or an array of one for each component of event\(t, y, p\)
// Three functions, two directions.
#include <eddy/eddy.hpp>

struct Boxed {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], 0 * y[0] - p[0]);
    }
    constexpr auto event(auto, const auto& y, const auto&) const {
        return eddy::vec(y[0], y[1], y[0] - 2);
    }
#ifdef EDDY_BAD
    static constexpr eddy::Crossing event_direction[] = {eddy::Crossing::falling,
                                                         eddy::Crossing::rising};
#else
    static constexpr eddy::Crossing event_direction[] = {
        eddy::Crossing::falling, eddy::Crossing::rising, eddy::Crossing::either};
#endif
};

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Boxed{}, eddy::Tsit5{}, y0, p, {.t1 = 1}).y()(0, 0);
}
