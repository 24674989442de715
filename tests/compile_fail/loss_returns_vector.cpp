// expect: loss: loss\(t, y, p, data\) must return one number
// A loss is a number: a vector of residuals has no gradient.
#include <eddy/backends/serial.hpp>
#include <eddy/solve/call/gradient.hpp>
#include <eddy/solvers/euler.hpp>

struct Decay {
    static constexpr int state_size = 1, parameter_size = 1;
    constexpr auto operator()(auto, const auto& y, const auto& p) const {
        return eddy::vec(-(p[0] * y[0]));
    }
};

struct Residuals {
    constexpr auto operator()(auto, const auto& y, const auto&, const auto& data) const {
#ifdef EDDY_BAD
        return eddy::vec(y[0] - data[0], y[0] + data[0]);
#else
        return (y[0] - data[0]) * (y[0] - data[0]);
#endif
    }
};

const eddy::EnsembleArray<double> start(1, 1, 1), p(1, 1, 1), data(1, 1, 1);
const auto result = eddy::value_and_gradient(Decay{}, eddy::Euler{}, Residuals{}, data, start, p,
                                             {.t1 = 1, .dt0 = 0.5}, eddy::Serial{});
