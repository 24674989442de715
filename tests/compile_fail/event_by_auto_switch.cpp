// expect: events: AutoSwitch starts trajectories again with another method, and takes no events; give one of its methods
// What a lane did until it was sent to the second method would have to be forgotten.
#include <eddy/eddy.hpp>

struct Drop {
    static constexpr int state_size = 2, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(y[1], 0 * y[0] - p[0]);
    }
    constexpr auto event(auto, const auto& y, const auto&) const { return y[0]; }
};
#ifdef EDDY_BAD
constexpr eddy::AutoSwitch method{eddy::Tsit5{}, eddy::Rodas5P{}};
#else
constexpr eddy::Rodas5P method{};
#endif

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::solve(Drop{}, method, y0, p, {.t1 = 1}).y()(0, 0);
}
