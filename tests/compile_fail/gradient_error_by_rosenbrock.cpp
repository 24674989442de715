// expect: estimate_gradient_error: the method must be a tableau with an error estimate, such as Tsit5
// The estimate reads the stages of explicit tableaus.
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
using Method = eddy::Rosenbrock23;
#else
using Method = eddy::Bosh3;
#endif

double slope_of(const eddy::EnsembleArray<double>& y0, const eddy::EnsembleArray<double>& p) {
    return eddy::value_and_gradient(Decay{}, Method{}, Square{}, y0, p, {.t1 = 1},
                                    eddy::estimate_gradient_error)
        .gradient.p(0, 0);
}
