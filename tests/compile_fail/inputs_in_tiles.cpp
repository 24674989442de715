// expect: Tiles: steps end on the knots of inputs; leave the member input_is_smooth, or Tiles\{\}, out
// Over knots pass steps of other backends.
#include <eddy/backends/tiles.hpp>
#include <eddy/eddy.hpp>

struct Driven {
    static constexpr int state_size = 1, parameter_size = 1, input_size = 1;
#ifdef EDDY_BAD
    static constexpr bool input_is_smooth = true;
#endif
    constexpr auto operator()(auto, const auto& y, const auto& p, const auto& u) const {
        return eddy::vec(u[0] - p[0] * y[0]);
    }
};

double end_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    const eddy::Inputs inputs = eddy::piecewise_linear({0, 1}, {1, 2});
    return eddy::solve(Driven{}, eddy::Tsit5{}, y0, p, {.t1 = 1, .inputs = inputs}, eddy::Tiles{})
        .y()(0, 0);
}
