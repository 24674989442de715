// expect: solve: an array lies where the backend does not compute; copy it, or choose the backend whose Memory is the array's
#include <eddy/eddy.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-p[0] * y[0]);
    }
};

struct SomeDevice {};

void call() {
    const eddy::EnsembleArray<double> y0(4, 1), p(4, 1);
#ifdef EDDY_BAD
    const eddy::ViewIn<SomeDevice, const double> view{y0.view()};
#else
    const eddy::EnsembleView<const double> view = y0.view();
#endif
    const auto solution = eddy::solve(Decay{}, eddy::Tsit5{}, view, p, {.t1 = 1});
    static_cast<void>(solution);
}
