// One of two libraries of a process. Each has an equation of its own, and both equations have one name.
#include <eddy/eddy.hpp>

namespace {

struct Decay {
    static constexpr int state_size = 1, parameter_size = 0;
    constexpr auto operator()(auto, const auto& y, const auto&) const {
        return eddy::vec(-RATE * y[0]);
    }
};

}  // namespace

double END() {
    eddy::EnsembleArray<double> y0(1, 1), p(1, 0);
    y0(0, 0) = 1;
    return eddy::solve(Decay{}, eddy::Tsit5{}, y0, p, {.t1 = 1, .rtol = 1e-6, .atol = 1e-6})
        .y()(0, 0);
}
