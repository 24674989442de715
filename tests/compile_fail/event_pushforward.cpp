// expect: events: tangents pass through them by explicit methods, such as Tsit5, and by Taylor
// The sizes of steps to events have tangents, which the systems of stages do not take.
#include <eddy/eddy.hpp>

struct Drop {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], 0 * y[0] - p[0]);
    }
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0]; }
};
#ifdef EDDY_BAD
using Method = eddy::Rodas5P;
#else
using Method = eddy::Tsit5;
#endif

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::pushforward(Drop{}, Method{}, y0, p, y0, p, {.t1 = 1}).tangent()(0, 0);
}
