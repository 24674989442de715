// expect: value_and_gradient: observe\(function\) has no place here; the loss itself may be any function of the state
// A loss is called with the state.
#include <eddy/eddy.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};
struct Square {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] * y[0]; }
};
#ifdef EDDY_BAD
const auto extra = eddy::observe(Square{});
#else
const eddy::Serial extra;
#endif

double slope_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::value_and_gradient(Decay{}, eddy::Euler{}, Square{}, y0, p, {.t1 = 1, .dt0 = 0.1},
                                    extra)
        .gradient.p(0, 0);
}
