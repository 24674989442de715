// expect: loss: this loss takes no data, loss\(t, y, p\): leave the data before y0 out
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/euler.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-(p[0] * y[0]));
    }
};

struct Square {
    constexpr auto operator()(auto, const auto& y, const auto&) const { return y[0] * y[0]; }
};

const eddy::EnsembleArray<double> start(1, 1, 1), p(1, 1, 1), data(1, 1, 1);
#ifdef EDDY_BAD
const auto result = eddy::value_and_gradient(Decay{}, eddy::Euler{}, Square{}, data, start, p,
                                             {.t1 = 1, .dt0 = 0.5}, eddy::Serial{});
#else
const auto result = eddy::value_and_gradient(Decay{}, eddy::Euler{}, Square{}, start, p,
                                             {.t1 = 1, .dt0 = 0.5}, eddy::Serial{});
#endif
